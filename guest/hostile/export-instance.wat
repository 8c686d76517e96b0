;; component: types world libc main instance …
;; Exports instances of the names `announce` and `run`.
  (instance $as-instance (export "f" (func $announce)))
  (export "announce" (instance $as-instance))
  (export "run" (instance $as-instance))
