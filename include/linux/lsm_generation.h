/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generation of the answers to capable(CAP_SYS_ADMIN).
 *
 * The answer depends on the caller's credentials, which never change once
 * committed, and on the policy of the security modules.  Whoever caches a
 * positive answer keeps the generation with it and takes it for valid while
 * the generation lasts and current_cred() is the same object:
 *
 *	gen = lsm_gen_sample();
 *	if (capable(CAP_SYS_ADMIN) && gen)
 *		keep (get_current_cred(), gen);
 *
 * The reference to the credentials keeps their address from being used again.
 *
 * A security module whose answer for CAP_SYS_ADMIN can change calls
 * lsm_gen_bump() after the change is visible, and says so by
 * LSM_FLAG_CAP_GEN in its DEFINE_LSM(); so does one whose answer never
 * changes.  While any other has a capable hook, nothing is cached, nor while
 * one of these answers from something else and says so by lsm_gen_forbid().
 */
#ifndef _LINUX_LSM_GENERATION_H
#define _LINUX_LSM_GENERATION_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

/* Who may answer from more than credentials and announced policy. */
enum lsm_gen_holder {
	LSM_GEN_MODULE,		/* no LSM_FLAG_CAP_GEN, or a module says so */
	LSM_GEN_BPF,		/* attached BPF programs */
	LSM_GEN_HOLDERS
};

/* When answers may be cached, for the administrator to say. */
enum lsm_gen_mode {
	LSM_GEN_OFF,		/* never */
	LSM_GEN_ON,		/* while nobody of lsm_gen_holder may answer */
	LSM_GEN_WITH_BPF,	/* while LSM_GEN_BPF may, too */
};

/* 0: do not cache.  Unsigned long, so that one load reads it everywhere. */
extern unsigned long lsm_gen_word;

/**
 * lsm_gen_sample - read the generation before asking capable()
 *
 * Return: the generation to keep with the answer, 0 if it must not be kept.
 */
static inline unsigned long lsm_gen_sample(void)
{
	/* Pairs with lsm_gen_publish(): the policy is at least as new. */
	return smp_load_acquire(&lsm_gen_word);
}

/**
 * lsm_gen_valid - is an answer of that generation still valid?
 * @gen: what lsm_gen_sample() returned, not 0
 *
 * Return: true if no policy has changed and caching is allowed.
 */
static inline bool lsm_gen_valid(unsigned long gen)
{
	return gen == READ_ONCE(lsm_gen_word);
}

void lsm_gen_bump(void);
void lsm_gen_forbid(enum lsm_gen_holder holder);
void lsm_gen_allow(enum lsm_gen_holder holder);
void lsm_gen_set_mode(enum lsm_gen_mode mode);
enum lsm_gen_mode lsm_gen_get_mode(void);

#endif /* _LINUX_LSM_GENERATION_H */
