// A new object without an attribute that must not be null. Expected: requires the types
import ObjectAPI

func wrong() -> SalesOrder { SalesOrder() }
