import ODataModel

/// Resolves the names and types of a parsed URL against a model.
///
/// Every operand has its type afterwards, promotions are explicit casts, enumeration literals are numbers,
/// aliases are replaced by their values. What the standard allows but the bound tree cannot express is
/// refused with its name.
///
/// ```swift
/// let url = try ODataURL(parsing: "Orders?$filter=Freight gt 50")
/// let bound = try Binder(model: model).bind(url)
/// ```
public struct Binder: Sendable {
    /// The model that names are looked up in.
    public let model: EntityDataModel

    /// Makes a binder.
    public init(model: EntityDataModel) { self.model = model }

    /// Resolves a URL.
    ///
    /// - Throws: ``QueryError`` of kind `unknownName`, `type`, `unsupported` or `limit`, with the place where it
    ///   is known.
    public func bind(_ url: ODataURL) throws(QueryError) -> BoundURL {
        var resource = ResourceBinder(model: model, aliases: url.options.aliases)
        let bound = try resource.bind(url.path)
        guard let (shape, set) = bound.rows else {
            return BoundURL(resource: bound, query: nil)
        }
        return BoundURL(resource: bound, query: try bindQuery(url.options, shape: shape, set: set))
    }

    /// Resolves query options over the rows of a shape.
    ///
    /// - Parameters:
    ///   - options: the options.
    ///   - shape: the rows' declared type.
    ///   - set: the entity set they come from; `nil` when contained.
    /// - Throws: as ``bind(_:)``.
    public func bindQuery(
        _ options: QueryOptions, shape: Shape, set: EntitySet?
    ) throws(QueryError) -> BoundQuery {
        try QueryBinder(model: model, aliases: options.aliases).bind(options, shape: shape, set: set)
    }

    /// Resolves a condition or value over an instance of a shape.
    ///
    /// - Throws: as ``bind(_:)``.
    public func bind(
        _ expression: Expression, shape: Shape, set: EntitySet?, aliases: [String: Expression] = [:]
    ) throws(QueryError) -> BoundExpression {
        var binder = ExpressionBinder(model: model, aliases: aliases, shape: shape, set: set?.name)
        return try binder.bind(expression)
    }
}

extension BoundResource {
    /// The shape and set of the rows that query options apply to; `nil` where the target is not made of rows.
    fileprivate var rows: (Shape, EntitySet?)? {
        switch target {
        case .entities(let shape, let set), .entity(let shape, let set), .count(let shape, let set),
            .references(_, let shape, let set, _):
            (shape, set)
        default: nil
        }
    }
}
