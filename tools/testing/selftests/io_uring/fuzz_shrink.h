/* SPDX-License-Identifier: GPL-2.0 */
/* From a trace that ends with a wrong answer to one that still does, with fewer operations. */
#ifndef FUZZ_SHRINK_H
#define FUZZ_SHRINK_H

#include "fuzz_walk.h"

/* Shrinks @trace; what goes wrong in it, or .failed unset if that happens too seldom. */
struct fuzz_outcome fuzz_shrink(struct fuzz_trace *trace);

#endif
