#include "emit/form.h"

namespace etch {

Table<ProjectForm>& project_forms() {
  static Table<ProjectForm> table{&kCForm, &kOpenClForm, &kCudaForm};
  return table;
}

const ProjectForm* form_of(const Language* language) { return project_forms().find(&ProjectForm::language, language); }

}  // namespace etch
