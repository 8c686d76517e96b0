;; component: … types world libc main instance exports
;; Uses exceptions.
  (core module (tag $t) (func (throw $t)))
