# Reads a target description (targets/*.xml) for toolchain files, so that flags and memories are said there alone.
#
#   etch_target_flags(OUT FILE REGEX)   the texts of <flag> elements that match (REGEX of the text)
#   etch_target_link(OUT FILE)          the texts of <link>, with {NAME.origin} and {NAME.size} of memories and {toolchains}, this folder,
#                                       filled in
#
# It understands what the bundled descriptions are made of: one element a line, no ';' and no comment around an element.

function(etch_target_texts out file element)
  file(READ "${file}" xml)
  string(REGEX MATCHALL "<${element}( [^>]*)?>[^<]*</${element}>" elements "${xml}")
  set(texts)
  foreach(each IN LISTS elements)
    string(REGEX REPLACE "^<[^>]*>[ \t\r\n]*([^<]*[^ \t\r\n<])[ \t\r\n]*<.*$" "\\1" text "${each}")
    list(APPEND texts "${text}")
  endforeach()
  set(${out} "${texts}" PARENT_SCOPE)
endfunction()

function(etch_target_flags out file regex)
  etch_target_texts(flags "${file}" flag)
  list(FILTER flags INCLUDE REGEX "${regex}")
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# "4M", "0x20000000" and "1024" as decimal numbers.
function(etch_target_number out text)
  string(REGEX REPLACE "K$" "*1024" text "${text}")
  string(REGEX REPLACE "M$" "*1048576" text "${text}")
  string(REGEX REPLACE "G$" "*1073741824" text "${text}")
  math(EXPR number "${text}" OUTPUT_FORMAT DECIMAL)
  set(${out} ${number} PARENT_SCOPE)
endfunction()

function(etch_target_link out file)
  etch_target_texts(link "${file}" link)
  string(REPLACE "{toolchains}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}" link "${link}")
  file(READ "${file}" xml)
  string(REGEX MATCHALL "<memory [^>]*>" memories "${xml}")
  foreach(memory IN LISTS memories)
    string(REGEX REPLACE ".* name=\"([^\"]*)\".*" "\\1" name "${memory}")
    foreach(what origin size)
      set(value 0)
      if(memory MATCHES " ${what}=\"([^\"]*)\"")
        set(value "${CMAKE_MATCH_1}")
      endif()
      etch_target_number(value "${value}")
      string(REPLACE "{${name}.${what}}" "${value}" link "${link}")
    endforeach()
  endforeach()
  set(${out} "${link}" PARENT_SCOPE)
endfunction()
