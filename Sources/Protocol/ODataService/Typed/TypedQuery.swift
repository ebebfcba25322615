import ODataModel
import ODataQuery

/// A query over entities of a known type that supports `$select` and `$expand`.
///
/// ```swift
/// let query = northwind.orders.select(\.freight, \.shipCity).expand(\.customer)
/// ```
public protocol TypedProjection {
    /// The type of the entities.
    associatedtype Element: TypedEntity
    /// The query.
    var query: ResourceQuery { get set }
}

/// A query over a collection of entities of a known type.
///
/// Every method returns a new query, and the compiler checks the names and types in it.
///
/// ```swift
/// let query = northwind.orders.filter(\.shipCity == "Bern").orderBy(\.freight, descending: true).top(10)
/// for order in try await query.all() { show(order.freight as Any) }
/// ```
public protocol TypedQuery: TypedProjection {}

extension TypedProjection {
    func with(_ change: (inout ResourceQuery) -> Void) -> Self {
        var copy = self
        change(&copy.query)
        return copy
    }

    /// Adds properties to `$select`. The key is always selected too, so that the entities can be changed.
    ///
    /// ```swift
    /// let short = northwind.orders.select(\.freight, \.shipCity)
    /// ```
    public func select<each Path: SelectablePath>(_ paths: repeat KeyPath<Element.Paths, each Path>) -> Self {
        with { query in
            if query.url.options.select.isEmpty {
                for part in Element.odataShape.key { query = query.select(part.path) }
            }
            for path in repeat each paths { query = query.select(Element.paths[keyPath: path].odataPath) }
        }
    }

    /// Expands related entities with `$expand`.
    ///
    /// ```swift
    /// let whole = northwind.orders.expand(\.customer).expand(\.items) { $0.filter(\.quantity > 5).top(3) }
    /// ```
    public func expand<Path: ExpandablePath>(
        _ path: KeyPath<Element.Paths, Path>,
        _ options: (ExpandedQuery<Path.Target>) -> ExpandedQuery<Path.Target> = { $0 }
    ) -> Self {
        let expanded = options(ExpandedQuery())
        let path = Element.paths[keyPath: path].odataPath
        return with { $0 = $0.expand(path, levels: expanded.levels) { _ in expanded.query } }
    }
}

extension TypedQuery {
    /// Adds a condition to `$filter`; several conditions must all hold.
    ///
    /// ```swift
    /// let costly = northwind.orders.filter(\.freight > 50 && \.customer.country == "Germany")
    /// ```
    public func filter(_ condition: Condition<Element.Paths>) -> Self { with { $0 = $0.filter(condition.query) } }

    /// Adds a condition with functions and lambda operators to `$filter`.
    ///
    /// ```swift
    /// let some = northwind.orders.filter { $0.shipCity.startsWith("B") && $0.items.any { $0.quantity > 5 } }
    /// ```
    public func filter(_ condition: (Element.Paths) -> QueryExpression) -> Self {
        with { $0 = $0.filter(condition(Element.paths)) }
    }

    /// Adds a Boolean property to `$filter`.
    public func filter(_ path: KeyPath<Element.Paths, PropertyPath<Bool>>) -> Self {
        with { $0 = $0.filter(Element.paths[keyPath: path].query) }
    }

    /// Adds an expression to `$orderby`, after the existing ones.
    public func orderBy<Part: TypedExpression>(
        _ path: KeyPath<Element.Paths, Part>, descending: Bool = false
    ) -> Self {
        with { $0 = $0.orderBy(Element.paths[keyPath: path].query, descending: descending) }
    }

    /// Sets `$top`, the maximum number of entities, 0 or more.
    public func top(_ count: Int) -> Self { with { $0 = $0.top(count) } }

    /// Sets `$skip`, the number of entities to skip, 0 or more.
    public func skip(_ count: Int) -> Self { with { $0 = $0.skip(count) } }

    /// Sets `$search`.
    public func search(_ search: SearchExpression) -> Self { with { $0 = $0.search(search) } }

    /// Sets `$count`, so that pages contain the total number of entities.
    public func withCount() -> Self { with { $0 = $0.count() } }
}

/// The options of an `$expand`.
public struct ExpandedQuery<Element: TypedEntity>: TypedQuery {
    /// The query.
    public var query = ResourceQuery(ODataURL())
    var levels: QueryOptions.Levels?

    /// Creates empty options.
    public init() {}

    /// Sets `$levels`, the depth to which a recursive navigation property is expanded, 1 or more.
    public func levels(_ count: Int) -> Self {
        var copy = self
        copy.levels = .exactly(max(1, count))
        return copy
    }
}
