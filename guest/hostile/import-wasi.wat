;; component: types world libc main instance exports
;; Imports the environment from WASI.
  (import "wasi:cli/environment@0.2.0" (instance
    (export "get-environment" (func (result (list (tuple string string)))))))
