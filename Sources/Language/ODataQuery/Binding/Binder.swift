import ODataModel

/// A type that resolves all names in a parsed URL against a model and makes all types explicit.
///
/// ```swift
/// let binder = Binder(model: model)
/// let bound = try binder.bind(ODataURL(parsing: "Orders?$filter=Freight gt 50&$expand=Customer"))
/// ```
///
/// Standard features that the bound trees cannot express are refused with ``QueryError/Kind/unsupported(feature:)``
/// and never approximated. Errors about unknown names suggest the most similar names of the model.
public struct Binder: Sendable {
    /// The model against which names are resolved.
    public let model: EntityDataModel

    /// The functions that queries may call in addition to the canonical ones.
    public let functions: FunctionRegistry

    /// Creates a binder.
    public init(model: EntityDataModel, functions: FunctionRegistry = FunctionRegistry()) {
        self.model = model
        self.functions = functions
    }

    /// Resolves a URL (OData URL Conventions 4.01, 4 and 5).
    ///
    /// - Parameter url: the parsed URL.
    /// - Returns: the resource, and the query over its rows if the resource consists of rows.
    /// - Throws: ``QueryError`` with kind `unknownName`, `type`, `unsupported` or `limit`, or with `syntax` if the
    ///   resource does not allow an option.
    public func bind(_ url: ODataURL) throws(QueryError) -> BoundURL {
        let session = BindingSession(model: model, functions: functions, aliases: url.options.aliases)
        var resource = ResourceBinder(session: session, options: url.options)
        let bound = try session.part("path") { () throws(QueryError) in try resource.bind(url.path) }
        return BoundURL(resource: bound, query: try resource.query(for: bound.target, url.options))
    }

    /// Resolves query options over rows of a shape.
    ///
    /// - Parameters:
    ///   - options: the options and the parameter aliases that they use.
    ///   - shape: the shape of the rows.
    ///   - set: the entity set of the rows; `nil` for contained entities and for complex values.
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
