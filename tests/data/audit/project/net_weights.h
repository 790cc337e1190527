#ifndef NET_WEIGHTS_H
#define NET_WEIGHTS_H
extern const float net_weights[128];
#endif
