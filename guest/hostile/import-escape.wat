;; component: types world libc main instance exports
;; Imports something whose name is an escape sequence for terminals.
  (import "url=<https://example.test/\1b[2J>" (func))
