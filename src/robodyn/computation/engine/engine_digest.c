/* Which sources was this library made from? */

#ifdef ENGINE_LIBRARY

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

#define MARK "robodyn engine "

/* Writable data, linked last: it ends what a loader maps from the file, so a file that holds it is not cut short. */
extern char engine_mark[];
char engine_mark[] = MARK ENGINE_DIGEST;

EXPORTED const char *engine_digest(void);
EXPORTED const char *engine_digest(void) { return engine_mark + sizeof MARK - 1; }

#endif
