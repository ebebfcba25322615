import ODataModel

/// Resolves every name of a parsed URL against a model and makes every type explicit.
///
/// ```swift
/// let binder = Binder(model: model)
/// let bound = try binder.bind(ODataURL(parsing: "Orders?$filter=Freight gt 50&$expand=Customer"))
/// ```
///
/// What the standard allows and the bound trees cannot say is refused with
/// ``QueryError/Kind/unsupported(feature:)``, never approximated. Names that the model lacks are refused with
/// the nearest ones it has.
public struct Binder: Sendable {
    /// The model that names are resolved against.
    public let model: EntityDataModel

    /// The functions that queries may call besides the canonical ones.
    public let functions: FunctionRegistry

    /// Makes a binder.
    public init(model: EntityDataModel, functions: FunctionRegistry = FunctionRegistry()) {
        self.model = model
        self.functions = functions
    }

    /// Resolves a URL (OData URL Conventions 4.01, 4 and 5).
    ///
    /// - Parameter url: the parsed URL.
    /// - Returns: the resource, and the query over its rows where it is made of rows.
    /// - Throws: ``QueryError`` with kind `unknownName`, `type`, `unsupported`, `limit`, or `syntax` where an
    ///   option cannot stand with the resource.
    public func bind(_ url: ODataURL) throws(QueryError) -> BoundURL {
        let session = BindingSession(model: model, functions: functions, aliases: url.options.aliases)
        var resource = ResourceBinder(session: session, options: url.options)
        let bound = try session.part("path") { () throws(QueryError) in try resource.bind(url.path) }
        return BoundURL(resource: bound, query: try resource.query(for: bound.target, url.options))
    }

    /// Resolves query options over rows of a shape.
    ///
    /// - Parameters:
    ///   - options: the options; their aliases are in effect.
    ///   - shape: the shape of the rows.
    ///   - set: the entity set of the rows; `nil` when they are contained or are no entities.
    /// - Throws: ``QueryError`` as ``bind(_:)`` does.
    public func bindQuery(
        _ options: QueryOptions, shape: TypeShape, set: EntitySet?
    ) throws(QueryError) -> BoundQuery {
        let session = BindingSession(model: model, functions: functions, aliases: options.aliases)
        return try session.query(options, shape: shape, source: set?.name, set: set)
    }

    /// Resolves an expression over rows of a shape (OData URL Conventions 4.01, 5.1.1).
    ///
    /// - Parameters:
    ///   - expression: the expression.
    ///   - shape: the shape of the current instance.
    ///   - set: the entity set of the current instance.
    ///   - aliases: the values of parameter aliases, by name without `@`.
    /// - Throws: ``QueryError`` as ``bind(_:)`` does.
    public func bind(
        _ expression: CommonExpression, shape: TypeShape, set: EntitySet?, aliases: [String: CommonExpression] = [:]
    ) throws(QueryError) -> BoundExpression {
        let session = BindingSession(model: model, functions: functions, aliases: aliases)
        return try session.bind(expression, in: Scope(shape: shape, source: set?.name))
    }
}
