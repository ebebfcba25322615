// zlib without the functions of unistd.h, which its header brings along and which are Linux's here.
#define _UNISTD_H 1
#include <zlib.h>
#undef _UNISTD_H
