import ODataModel
import ODataQuery

/// A query whose entities are of a known type: what `$select` and `$expand` are made with.
public protocol TypedProjection {
    /// The type of the entities.
    associatedtype Element: TypedEntity
    /// The query so far.
    var query: ResourceQuery { get set }
}

/// A query over a collection of entities of a known type: every step gives a new query, and the compiler checks the
/// names and types in it.
public protocol TypedQuery: TypedProjection {}

extension TypedProjection {
    func with(_ change: (inout ResourceQuery) -> Void) -> Self {
        var copy = self
        change(&copy.query)
        return copy
    }

    /// `$select`, besides what is selected already. The key comes along, so that what is read can be changed.
    ///
    /// ```swift
    /// northwind.orders.select(\.freight, \.shipCity)
    /// ```
    public func select<each Path: SelectablePath>(_ paths: repeat KeyPath<Element.Paths, each Path>) -> Self {
        with { query in
            if query.url.options.select.isEmpty {
                for part in Element.odataShape.key { query = query.select(part.path) }
            }
            for path in repeat each paths { query = query.select(Element.paths[keyPath: path].odataPath) }
        }
    }

    /// `$expand`: the related entities come along.
    ///
    /// ```swift
    /// northwind.orders.expand(\.customer).expand(\.items) { $0.filter(\.quantity > 5).top(3) }
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
    /// `$filter`; several conditions must all hold.
    ///
    /// ```swift
    /// northwind.orders.filter(\.freight > 50 && \.customer.country == "Germany")
    /// ```
    public func filter(_ condition: Condition<Element.Paths>) -> Self { with { $0 = $0.filter(condition.query) } }

    /// `$filter` with functions and lambda operators.
    ///
    /// ```swift
    /// northwind.orders.filter { $0.shipCity.startsWith("B") && $0.items.any { $0.quantity > 5 } }
    /// ```
    public func filter(_ condition: (Element.Paths) -> QueryExpression) -> Self {
        with { $0 = $0.filter(condition(Element.paths)) }
    }

    /// `$filter` by a Boolean property.
    public func filter(_ path: KeyPath<Element.Paths, PropertyPath<Bool>>) -> Self {
        with { $0 = $0.filter(Element.paths[keyPath: path].query) }
    }

    /// `$orderby`, after what it is ordered by already.
    public func orderBy<Part: TypedExpression>(
        _ path: KeyPath<Element.Paths, Part>, descending: Bool = false
    ) -> Self {
        with { $0 = $0.orderBy(Element.paths[keyPath: path].query, descending: descending) }
    }

    /// `$top`: at most this many, 0 or more.
    public func top(_ count: Int) -> Self { with { $0 = $0.top(count) } }

    /// `$skip`: without the first ones, 0 or more.
    public func skip(_ count: Int) -> Self { with { $0 = $0.skip(count) } }

    /// `$search`.
    public func search(_ search: SearchExpression) -> Self { with { $0 = $0.search(search) } }

    /// `$count`: pages and expanded collections tell how many there are in all.
    public func withCount() -> Self { with { $0 = $0.count() } }
}

/// The options of an `$expand`.
public struct ExpandedQuery<Element: TypedEntity>: TypedQuery {
    /// The query so far.
    public var query = ResourceQuery(ODataURL())
    var levels: QueryOptions.Levels?

    /// Makes options with nothing set.
    public init() {}

    /// `$levels`: how deep a recursive navigation property is followed, 1 or more.
    public func levels(_ count: Int) -> Self {
        var copy = self
        copy.levels = .exactly(max(1, count))
        return copy
    }
}
