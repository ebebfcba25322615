import ODataModel
import ODataQuery
import ODataService

/// A dynamic query over the objects of a package.
///
/// ```swift
/// let c = QueryAlias<Customer>("c"), o = QueryAlias<SalesOrder>("o")
/// let totals = DynamicQuery.from(c).join(o, on: o.customerID == c.id)
///     .groupBy(c.city).having(o.amount.sum > 1000)
///     .select(c.city, o.amount.sum.named("total"))
///     .orderBy("total", descending: true)
/// for row in try await crm.execute(totals).rows {
///     print(try row.optional("city", as: String.self) ?? "-", try row.value("total", as: ODataDecimal.self))
/// }
/// ```
public typealias DynamicQuery = Selection

/// The objects of a type under an alias in a ``DynamicQuery``. Two aliases of the same type are two sources.
///
/// Attributes are members: `c.city` for the alias `c`. Large attributes have none, so that a query with one does not
/// compile.
@dynamicMemberLookup
public struct QueryAlias<Object: BusinessObject>: Sendable {
    /// The alias.
    public let name: String

    /// Creates an alias: a letter or underscore, then letters, digits and underscores.
    public init(_ name: String) { self.name = name }

    /// Returns an attribute.
    public subscript<Value>(dynamicMember path: KeyPath<Object.Paths, PropertyPath<Value>>) -> AttributeOperand<Value> {
        AttributeOperand(alias: name, path: Object.Paths(odataPath: "")[keyPath: path].odataPath)
    }

    /// Returns the attributes of a complex attribute.
    public subscript<Complex>(dynamicMember path: KeyPath<Object.Paths, ComplexPath<Complex>>) -> QueryPath<
        Complex.Paths
    > {
        QueryPath(alias: name, path: Object.Paths(odataPath: "")[keyPath: path].odataPath)
    }

    /// Returns the attributes of a related object.
    public subscript<Target>(dynamicMember path: KeyPath<Object.Paths, NavigationEntityPath<Target>>) -> QueryPath<
        Target.Paths
    > {
        QueryPath(alias: name, path: Object.Paths(odataPath: "")[keyPath: path].odataPath)
    }

    /// A large attribute, which no query can hold.
    @available(*, unavailable, message: "A large attribute has no value in a query. Read it through its own reader.")
    public subscript(dynamicMember path: KeyPath<Object.Paths, StreamPath>) -> UnqueryableAttribute {
        UnqueryableAttribute()
    }

    /// Returns the test that an object is in a state.
    public func objectState(_ condition: StateCondition) -> QueryTest {
        let tests = condition.functions.map { QueryTest.state($0, of: name) }
        return tests.count == 1 ? tests[0] : .any(tests)
    }

    /// The source of the objects.
    func source(on condition: QueryTest? = nil) -> Selection.Source {
        Selection.Source(.entities(Object.objectType.entitySet), as: name, on: condition)
    }
}

/// The attributes of a complex attribute or a related object in a ``DynamicQuery``.
@dynamicMemberLookup
public struct QueryPath<Paths: TypedPaths>: Sendable {
    let alias: String
    let path: String

    /// Returns an attribute.
    public subscript<Value>(dynamicMember path: KeyPath<Paths, PropertyPath<Value>>) -> AttributeOperand<Value> {
        AttributeOperand(alias: alias, path: Paths(odataPath: self.path)[keyPath: path].odataPath)
    }

    /// Returns the attributes of a complex attribute.
    public subscript<Complex>(dynamicMember path: KeyPath<Paths, ComplexPath<Complex>>) -> QueryPath<Complex.Paths> {
        QueryPath<Complex.Paths>(alias: alias, path: Paths(odataPath: self.path)[keyPath: path].odataPath)
    }

    /// Returns the attributes of a related object.
    public subscript<Target>(dynamicMember path: KeyPath<Paths, NavigationEntityPath<Target>>) -> QueryPath<
        Target.Paths
    > {
        QueryPath<Target.Paths>(alias: alias, path: Paths(odataPath: self.path)[keyPath: path].odataPath)
    }

    /// A large attribute, which no query can hold.
    @available(*, unavailable, message: "A large attribute has no value in a query. Read it through its own reader.")
    public subscript(dynamicMember path: KeyPath<Paths, StreamPath>) -> UnqueryableAttribute { UnqueryableAttribute() }
}

/// The place of a large attribute in a ``DynamicQuery``, which the compiler refuses.
public struct UnqueryableAttribute: Sendable {}
