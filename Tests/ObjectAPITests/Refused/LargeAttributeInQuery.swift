// Expected: value of type 'UnqueryableAttribute' has no member 'isNull'
// A dynamic query tests a large attribute.
import ObjectAPI

func wrong(_ c: QueryAlias<Customer>) -> DynamicQuery { DynamicQuery.from(c).where(c.photo.isNull) }
