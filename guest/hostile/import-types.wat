;; component: types world libc main instance exports
;; Imports an interface that is not ours and holds only a type.
  (import "own:thing/types@1.0.0" (instance (type $t (record (field "a" u8))) (export "t" (type (eq $t)))))
