// A large attribute in a dynamic query. Expected: StreamPath
import ObjectAPI

func wrong(_ c: QueryAlias<Customer>) -> DynamicQuery { DynamicQuery.from(c).where(c.photo.isNull) }
