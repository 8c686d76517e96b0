;; component: types world libc main instance exports
;; Imports the host interface of another version.
  (import "hotcell:guest/host@0.9.0" (instance (export "f" (func))))
