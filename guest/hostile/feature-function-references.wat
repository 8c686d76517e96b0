;; component: … types world libc main instance exports
;; Uses typed function references.
  (core module (type $f (func)) (func (param (ref $f)) (call_ref $f (local.get 0))))
