/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the eventfd of one registration owes, and what it got.
 *
 * The sums are drawn when nothing can signal any more. Until then an eventfd
 * serves one registration only, so a signal that comes late is still its own.
 */
#ifndef EVFD_LEDGER_H
#define EVFD_LEDGER_H

#include "evfd.h"

struct evfd_account {
	int fd;
	eventfd_t got;		/* until unregistering returned */
	unsigned long least;	/* signals in all */
	unsigned long most;
	unsigned long most_late; /* of those, after unregistering returned */
};

enum evfd_verdict { EVFD_BALANCED, EVFD_LOST, EVFD_INVENTED, EVFD_LATE };

static inline const char *evfd_verdict_name(enum evfd_verdict v)
{
	static const char *const name[] = {
		"balanced", "a signal was lost", "a signal was invented",
		"signals went on after unregistering",
	};

	return name[v];
}

/* Opens a new page for the same number, whatever may still signal the old eventfd. */
static inline int evfd_account_renew(struct evfd_account *a)
{
	int fd = evfd_new();

	if (fd < 0 || dup3(fd, a->fd, O_CLOEXEC) < 0)
		return -EMFILE;
	close(fd);
	return 0;
}

static inline enum evfd_verdict evfd_account_close(struct evfd_account *a)
{
	eventfd_t late = evfd_take(a->fd), got = a->got + late;
	enum evfd_verdict v = EVFD_BALANCED;

	if (got < a->least)
		v = EVFD_LOST;
	else if (got > a->most)
		v = EVFD_INVENTED;
	else if (late > a->most_late)
		v = EVFD_LATE;
	if (v == EVFD_BALANCED)
		*a = (struct evfd_account){ .fd = a->fd };
	return v;
}

#endif
