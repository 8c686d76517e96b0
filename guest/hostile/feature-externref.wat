;; component: … types world libc main instance exports
;; Uses references to things of the host, of which a component has none.
  (core module (table 1 externref) (func (param externref)))
