// The sum of a text. Expected: requires that 'String' conform to 'SummableQueryValue'
import ObjectAPI

func wrong(_ c: QueryAlias<Customer>) -> DynamicQuery { DynamicQuery.from(c).select(c.city.sum.named("sum")) }
