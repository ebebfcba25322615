// Expected: requires that 'String' conform to 'SummableQueryValue'
// A dynamic query adds up texts.
import ObjectAPI

func wrong(_ c: QueryAlias<Customer>) -> DynamicQuery { DynamicQuery.from(c).select(c.city.sum.named("total")) }
