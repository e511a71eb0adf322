/* SPDX-License-Identifier: Apache-2.0 */
/* reserved.c - see reserved.h.  Lists are words with a blank after each; families are patterns in
 * which '*' stands for any characters.  tests/e2e/test_e2e_names.c compares them with what the
 * compilers' own headers define. */
#include "ir/reserved.h"

#include <string.h>

/* Keywords of C99 to C23 and C++98 to C++26, alternative tokens, and macros that headers or
 * compilers define in small letters.  "qn" would let a model's symbols meet those of the kernels. */
const char *const qn_reserved_words[] = {
	"alignas",
	"alignof",
	"and",
	"and_eq",
	"asm",
	"assert",
	"auto",
	"bitand",
	"bitor",
	"bool",
	"break",
	"case",
	"catch",
	"char",
	"char16_t",
	"char32_t",
	"char8_t",
	"class",
	"co_await",
	"co_return",
	"co_yield",
	"compl",
	"concept",
	"const",
	"const_cast",
	"consteval",
	"constexpr",
	"constinit",
	"continue",
	"contract_assert",
	"decltype",
	"default",
	"delete",
	"do",
	"double",
	"dynamic_cast",
	"else",
	"enum",
	"eof",
	"errno",
	"explicit",
	"export",
	"extern",
	"false",
	"far",
	"float",
	"for",
	"fortran",
	"friend",
	"goto",
	"huge",
	"i386",
	"if",
	"inline",
	"int",
	"interrupt",
	"linux",
	"long",
	"mips",
	"mutable",
	"namespace",
	"near",
	"new",
	"noexcept",
	"not",
	"not_eq",
	"null",
	"nullptr",
	"offsetof",
	"operator",
	"or",
	"or_eq",
	"private",
	"protected",
	"public",
	"qn",
	"register",
	"reinterpret_cast",
	"requires",
	"restrict",
	"return",
	"short",
	"signed",
	"sizeof",
	"static",
	"static_assert",
	"static_cast",
	"stderr",
	"stdin",
	"stdout",
	"struct",
	"switch",
	"template",
	"this",
	"thread_local",
	"throw",
	"true",
	"try",
	"typedef",
	"typeid",
	"typename",
	"typeof",
	"typeof_unqual",
	"union",
	"unix",
	"unsigned",
	"using",
	"vax",
	"virtual",
	"void",
	"volatile",
	"wchar_t",
	"while",
	"xor",
	"xor_eq",
	NULL,
};

/* Macros of the C standard's headers and of what POSIX adds to them. */
static const char *const families[] = {
	"INT*_MAX",   "INT*_MIN",    "INT*_WIDTH", "INT*_C",      "UINT*_MAX",   "UINT*_WIDTH",
	"UINT*_C",    "*CHAR_MAX",   "*CHAR_MIN",  "*CHAR_WIDTH", "CHAR_BIT",    "*SHRT_MAX",
	"*SHRT_MIN",  "*SHRT_WIDTH", "*LONG_MAX",  "*LONG_MIN",   "*LONG_WIDTH", "SIZE_MAX",
	"SIZE_WIDTH", "BOOL_MAX",    "BOOL_WIDTH", "PTRDIFF_*",   "SIG_*",       "WINT_M*",
	"WINT_WIDTH", "PRId*",       "PRIi*",      "PRIo*",       "PRIu*",       "PRIx*",
	"PRIX*",      "PRIb*",       "PRIB*",      "SCNd*",       "SCNi*",       "SCNo*",
	"SCNu*",      "SCNx*",       "SCNb*",      "SCNB*",       "FLT_*",       "DBL_*",
	"LDBL_*",     "DEC32_*",     "DEC64_*",    "DEC128_*",    "LC_*",        "ATOMIC_*",
	"SEEK_*",     "RENAME_*",
};

static const char macros[] =
	"BITINT_MAXWIDTH BUFSIZ CLOCKS_PER_SEC DECIMAL_DIG DEC_EVAL_METHOD DEC_INFINITY DEC_NAN "
	"E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF "
	"EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM "
	"ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT "
	"EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR "
	"EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC "
	"EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE "
	"EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH ENFILE "
	"ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM "
	"ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN "
	"ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOF "
	"EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT "
	"EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO ERESTART ERFKILL EROFS ESHUTDOWN "
	"ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY "
	"EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL EXIT_FAILURE EXIT_SUCCESS FE_ALL_EXCEPT "
	"FE_DFL_ENV FE_DFL_MODE FE_DIVBYZERO FE_DOWNWARD FE_INEXACT FE_INVALID FE_OVERFLOW "
	"FE_TONEAREST FE_TOWARDZERO FE_UNDERFLOW FE_UPWARD FILENAME_MAX FOPEN_MAX FP_ILOGB0 "
	"FP_ILOGBNAN FP_INFINITE FP_INT_DOWNWARD FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO "
	"FP_INT_TOWARDZERO FP_INT_UPWARD FP_LLOGB0 FP_LLOGBNAN FP_NAN FP_NORMAL FP_SUBNORMAL "
	"FP_ZERO HUGE_VAL HUGE_VALF HUGE_VALL INFINITY L_ctermid L_cuserid L_tmpnam "
	"MATH_ERREXCEPT MATH_ERRNO MB_CUR_MAX MB_LEN_MAX NAN NULL ONCE_FLAG_INIT P_tmpdir "
	"RAND_MAX SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO "
	"SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX SIGRTMIN SIGSEGV "
	"SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 "
	"SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ TIME_UTC TMP_MAX TSS_DTOR_ITERATIONS WEOF "
	"atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak_explicit "
	"atomic_exchange_explicit atomic_fetch_add_explicit atomic_fetch_and_explicit "
	"atomic_fetch_or_explicit atomic_fetch_sub_explicit atomic_fetch_xor_explicit atomic_init "
	"atomic_load_explicit atomic_store_explicit complex math_errhandling noreturn ";

/* Macros of compilers for microcontrollers, of their libraries (newlib, avr-libc), and of <math.h>
 * beyond the standard. */
static const char embedded[] =
	"AVR BIG_ENDIAN BYTE_ORDER FD_SETSIZE HAVE_INITFINI_ARRAY LITTLE_ENDIAN MAXFLOAT "
	"M_1_PI M_2_PI M_2_SQRTPI M_3PI_4 M_E M_INVLN2 M_IVLN10 M_LN10 M_LN2 M_LN2HI M_LN2LO "
	"M_LOG10E M_LOG2E M_LOG2_E M_PI M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2 M_SQRT3 M_SQRTPI "
	"M_TWOPI NFDBITS PDP_ENDIAN PTHREAD_CREATE_DETACHED PTHREAD_CREATE_JOINABLE "
	"PTHREAD_EXPLICIT_SCHED PTHREAD_INHERIT_SCHED PTHREAD_SCOPE_PROCESS "
	"PTHREAD_SCOPE_SYSTEM SCHED_FIFO SCHED_OTHER SCHED_RR fd_set physadr quad "
	"signgam ";

/* Values of Arduino cores; an input INPUT would be 0 there. */
static const char arduino[] =
	"CHANGE DEFAULT DEG_TO_RAD DISPLAY EULER EXTERNAL FALLING HALF_PI HIGH INPUT "
	"INPUT_PULLDOWN INPUT_PULLUP INTERNAL LOW LSBFIRST MSBFIRST OUTPUT OUTPUT_OPEN_DRAIN "
	"PI RAD_TO_DEG RISING SERIAL TWO_PI ";

/* Types of members: in C++ a member of such a name changes what the next one is. */
static const char types[] = "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t ";

/* Headers of C, POSIX, common C libraries and systems, without ".h". */
static const char headers[] =
	"aio alloca ar arduino argz assert byteswap complex conio cpio cpuid crypt ctype direct "
	"dirent dlfcn dos elf endian envz err errno error execinfo fcntl features fenv float "
	"fmtmsg fnmatch fstab ftw getopt glob grp iconv ifaddrs intrin inttypes io iso646 "
	"langinfo libgen libintl limits link locale malloc math mcheck memory monetary mqueue "
	"ndbm netdb newlib nl_types nss obstack omp paths picolibc poll printf process pthread "
	"pty pwd quadmath reent regex resolv sched search semaphore setjmp shadow signal spawn "
	"stdalign stdarg stdatomic stdbit stdbool stdc_predef stdckdint stddef stdint stdio "
	"stdlib stdmchar stdnoreturn string strings stropts syscall sysexits syslimits syslog tar "
	"tchar termios tgmath threads time ttyent uchar ucontext ulimit unistd unwind utime utmp "
	"utmpx values varargs wait wchar wctype windows winsock winsock2 wordexp xlocale ";

/* Names of devices wherever Windows sees a file of that name. */
static const char devices[] =
	"aux con nul prn com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 "
	"lpt6 lpt7 lpt8 lpt9 ";

/* What the self-test puts before the names of inputs and outputs. */
static const char prefixes[] = "in want got ";

/* Functions, types and macros with an underscore of the headers that emitted files include. */
static const char library[] =
	"FILENAME_MAX FOPEN_MAX L_ctermid L_cuserid L_tmpnam PTRDIFF_MAX PTRDIFF_MIN "
	"PTRDIFF_WIDTH P_tmpdir RENAME_EXCHANGE RENAME_NOREPLACE RENAME_WHITEOUT SEEK_CUR "
	"SEEK_DATA SEEK_END SEEK_HOLE SEEK_SET SIG_ATOMIC_MAX SIG_ATOMIC_MIN SIG_ATOMIC_WIDTH "
	"SIZE_MAX SIZE_WIDTH TMP_MAX WCHAR_MAX WCHAR_MIN WCHAR_WIDTH WINT_MAX WINT_MIN WINT_WIDTH "
	"char16_t char32_t char8_t clearerr_unlocked cookie_close_function_t "
	"cookie_io_functions_t cookie_read_function_t cookie_seek_function_t "
	"cookie_write_function_t errno_t explicit_bzero feof_unlocked ferror_unlocked "
	"fflush_unlocked fgetc_unlocked fgets_unlocked fileno_unlocked fopen_s fpos64_t fpos_t "
	"fprintf_s fputc_unlocked fputs_unlocked fread_unlocked freopen_s fscanf_s "
	"fwrite_unlocked getc_unlocked getchar_unlocked gets_s locale_t max_align_t memcpy_s "
	"memmove_s memset_explicit memset_s nullptr_t obstack_printf obstack_vprintf off64_t "
	"off_t open_memstream open_wmemstream printf_s ptrdiff_t putc_unlocked putchar_unlocked "
	"rsize_t scanf_s sigabbrev_np sigdescr_np size_t snprintf_s sprintf_s sscanf_s ssize_t "
	"strcasecmp_l strcat_s strcoll_l strcpy_s strerror_l strerror_r strerror_s "
	"strerrordesc_np strerrorlen_s strerrorname_np strncasecmp_l strncat_s strncpy_s "
	"strnlen_s strtok_r strtok_s strxfrm_l tmpfile_s tmpnam_r tmpnam_s va_list vfprintf_s "
	"vfscanf_s vprintf_s vscanf_s vsnprintf_s vsprintf_s vsscanf_s wchar_t ";
static const char *const integers[] = {"int*_t",   "uint*_t",   "INT*_C",
				       "INT*_MAX", "INT*_MIN",  "INT*_WIDTH",
				       "UINT*_C",  "UINT*_MAX", "UINT*_WIDTH"};

static char
upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool
same(const char *a, const char *b, size_t n, bool with_case)
{
	size_t i = 0;

	while (i < n && (with_case ? a[i] == b[i] : upper(a[i]) == upper(b[i])))
		i++;
	return i == n;
}

static bool
is_in(const char *list, const char *name, bool with_case)
{
	size_t n = strlen(name);

	for (const char *word = list; *word != '\0';) {
		size_t k = strcspn(word, " ");

		if (k == n && same(word, name, n, with_case))
			return true;
		word += k + 1;
	}
	return false;
}

/* '*': any characters, '?': one. There is one '*' at most, and few characters after it. */
static bool
fits(const char *pattern, const char *name)
{
	for (; *pattern != '*'; pattern++, name++)
		if (*name == '\0' || (*pattern != '?' && *pattern != *name))
			return *pattern == *name;
	size_t n = strlen(name), k = strlen(pattern + 1);
	return n >= k && strcmp(name + n - k, pattern + 1) == 0;
}

static bool
fits_any(const char *const *pattern, size_t n, const char *name)
{
	size_t i = 0;

	while (i < n && !fits(pattern[i], name))
		i++;
	return i < n;
}

/* B0 to B11111111, the bytes of Arduino cores. */
static bool
is_binary(const char *name)
{
	size_t n = name[0] == 'B' ? strspn(name + 1, "01") : 0;

	return n >= 1 && n <= 8 && name[1 + n] == '\0';
}

bool
qn_reserved_member(const char *name)
{
	return is_in(macros, name, true) || is_in(embedded, name, true) ||
	       is_in(arduino, name, true) || is_binary(name) || is_in(types, name, true) ||
	       fits_any(families, QN_COUNT(families), name);
}

static bool
ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && same(name + n - k, end, k, false);
}

bool
qn_reserved_model(const char *name)
{
	return is_in(headers, name, false) || is_in(devices, name, false) ||
	       is_in(prefixes, name, false) || ends_with(name, "_weights") ||
	       ends_with(name, "_selftest") || ends_with(name, "_io") ||
	       ends_with(name, "_proof") || ends_with(name, "_device");
}

bool
qn_reserved_symbol(const char *name)
{
	return is_in(library, name, true) || fits_any(integers, QN_COUNT(integers), name);
}
