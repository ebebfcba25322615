import ODataModel

/// A custom aggregation method of an app (OData Data Aggregation 4.0, 3.2.1.2): `Price with App.median as Median`.
///
/// It receives the values that are not null, in no particular order. Two methods are equal if their names are.
public struct AggregateFunction: Hashable, Sendable {
    /// The qualified name.
    public let name: String
    /// The type of the result; `nil` for the type of the values.
    public let returnType: TypeReference?
    /// Computes the result.
    public let body: @Sendable ([ODataValue]) throws -> ODataValue

    /// Creates a method.
    public init(
        _ name: String, returns returnType: TypeReference? = nil,
        body: @escaping @Sendable ([ODataValue]) throws -> ODataValue
    ) {
        self.name = name
        self.returnType = returnType
        self.body = body
    }

    /// Returns whether the names are equal.
    public static func == (left: AggregateFunction, right: AggregateFunction) -> Bool { left.name == right.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
