import ODataModel

/// A query built in Swift. Every method returns a new value.
///
/// ```swift
/// let query = ResourceQuery("Orders")
///     .filter(.property("Freight") > 50 && .property("ShipCity").startsWith("B"))
///     .orderBy(.property("OrderDate"), descending: true)
///     .expand("Items") { $0.select("ProductID", "Quantity").top(3) }
///     .select("OrderID", "Freight")
///     .top(10)
/// print(query.url)   // Orders?$filter=Freight gt 50 and …
/// ```
///
/// It produces the same ``ODataURL`` as the parser. Names are checked when the query is bound
/// (``Binder/bind(_:)``).
public struct ResourceQuery: Hashable, Sendable, CustomStringConvertible {
    /// The URL below the service root.
    public private(set) var url: ODataURL

    /// Creates a query over an entity set, a singleton, or the resource at a path of names such as `Me/Orders`.
    public init(_ path: String) {
        let segments = path.split(separator: "/").map { PathSegment.name(Identifier(String($0)), .none) }
        url = ODataURL(path: ResourcePath(segments))
    }

    /// Creates a query that starts from a URL.
    public init(_ url: ODataURL) { self.url = url }

    /// The URL in readable form.
    public var description: String { url.description }

    private func with(_ change: (inout ODataURL) -> Void) -> ResourceQuery {
        var query = self
        change(&query.url)
        return query
    }

    // MARK: Path

    /// Addresses one entity by its single-part key (OData URL Conventions 4.01, 4.3.1).
    public func key(_ value: ODataValue) -> ResourceQuery {
        key(.single(QueryExpression.value(value).expression))
    }

    /// Addresses one entity by its key. A single-part key is written without its name.
    public func key(_ key: EntityKey) -> ResourceQuery {
        if key.parts.count == 1 { return self.key(key.parts[0].value) }
        return self.key(
            .compound(
                key.parts.map { .init(name: Identifier($0.name), value: QueryExpression.value($0.value).expression) }))
    }

    private func key(_ predicate: KeyPredicate) -> ResourceQuery {
        with {
            if case .name(let name, .none)? = $0.path.segments.last {
                $0.path.segments[$0.path.segments.count - 1] = .name(name, .key(predicate))
            } else {
                $0.path.segments.append(.key(predicate))
            }
        }
    }

    /// Appends a property or navigation property to the path.
    public func navigate(_ name: String) -> ResourceQuery {
        with { $0.path.segments.append(.name(Identifier(name), .none)) }
    }

    /// The query for the number of rows (`/$count`).
    public var countOnly: ResourceQuery { with { $0.path.segments.append(.count) } }

    // MARK: Options

    /// Adds a condition to `$filter`; several conditions must all hold.
    public func filter(_ condition: QueryExpression) -> ResourceQuery {
        with {
            if let present = $0.options.filter {
                $0.options.filter = .binary(.and, present, condition.expression)
            } else {
                $0.options.filter = condition.expression
            }
        }
    }

    /// Adds a condition to `$filter` from text.
    ///
    /// - Throws: ``QueryError`` if the text breaks the grammar.
    public func filter(parsing text: String) throws(QueryError) -> ResourceQuery {
        filter(QueryExpression(try CommonExpression(parsing: text)))
    }

    /// Adds an expression to `$orderby`, after the existing ones.
    public func orderBy(_ key: QueryExpression, descending: Bool = false) -> ResourceQuery {
        with { $0.options.orderBy.append(OrderItem(key.expression, isDescending: descending)) }
    }

    /// Adds a property to `$orderby`.
    public func orderBy(_ path: String, descending: Bool = false) -> ResourceQuery {
        orderBy(.property(path), descending: descending)
    }

    /// Adds properties to `$select`. Paths have slashes; `*` selects all properties.
    public func select(_ paths: String...) -> ResourceQuery {
        with {
            $0.options.select += paths.map { path in
                SelectItem(path == "*" ? .all : .path(path.split(separator: "/").map { Identifier(String($0)) }))
            }
        }
    }

    /// Expands a navigation property with `$expand`.
    ///
    /// - Parameters:
    ///   - path: the navigation property, after complex properties and casts; `*` for all.
    ///   - levels: the depth of a recursive expansion.
    ///   - options: adds options to the query over the related entities.
    public func expand(
        _ path: String, levels: QueryOptions.Levels? = nil, _ options: (ResourceQuery) -> ResourceQuery = { $0 }
    ) -> ResourceQuery {
        var nested = options(ResourceQuery(ODataURL())).url.options
        nested.levels = levels
        let item = ExpandItem(path: path.split(separator: "/").map { Identifier(String($0)) }, options: nested)
        return with { $0.options.expand.append(item) }
    }

    /// Sets `$top`, the maximum number of rows.
    public func top(_ count: Int) -> ResourceQuery { with { $0.options.top = max(0, count) } }

    /// Sets `$skip`, the number of rows to skip.
    public func skip(_ count: Int) -> ResourceQuery { with { $0.options.skip = max(0, count) } }

    /// Sets `$count`, which requests the total number of rows.
    public func count(_ isWanted: Bool = true) -> ResourceQuery { with { $0.options.count = isWanted } }

    /// Sets `$search`.
    public func search(_ search: SearchExpression) -> ResourceQuery { with { $0.options.search = search } }

    /// Adds an item to `$compute`.
    public func compute(_ value: QueryExpression, as name: String) -> ResourceQuery {
        with { $0.options.compute.append(ComputeItem(value.expression, as: Identifier(name))) }
    }

    /// Adds transformations to `$apply`, after the existing ones.
    public func apply(_ transformations: Transformation...) -> ResourceQuery {
        with { $0.options.apply += transformations }
    }

    /// Sets the value of a parameter alias, whose name has no `@` here.
    public func alias(_ name: String, _ value: QueryExpression) -> ResourceQuery {
        with { $0.options.aliases[name] = value.expression }
    }

    /// Adds a custom query option.
    public func option(_ name: String, _ value: String) -> ResourceQuery {
        with { $0.options.custom.append(.init(name: name, value: value)) }
    }
}
