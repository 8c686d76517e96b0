;; component: … types world libc main instance exports
;; Uses tail calls.
  (core module (func $f (return_call $f)))
