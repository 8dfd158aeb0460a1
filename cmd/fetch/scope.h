/* What a query is narrowed down to, beyond its selector, and the proof that the server obeyed: servers answer
 * with everything, and 200, to what they do not know. */
#ifndef FETCH_SCOPE_H
#define FETCH_SCOPE_H

/* Ids and a function that nothing has: asked for, they must bring nothing. */
#define SCOPE_NO_PROFILE "00000000-0000-4000-8000-000000000000"
#define SCOPE_NO_SPAN "f1e2d3c4b5a69788"
#define SCOPE_NO_TRACE "f1e2d3c4b5a69788f1e2d3c4b5a69788"
#define SCOPE_NO_FUNCTION "pprof-fetch asks for a function that is not there"

#endif
