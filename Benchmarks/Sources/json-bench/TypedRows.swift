import ODataFormat
import ODataModel

/// Keeps every entity of a collection as a typed value.
struct TypedRows<Value: EntityRepresentable>: CollectionSink {
    var values: [Value] = []

    mutating func row(_ row: borrowing JSONRow) throws { values.append(try Value(row: row)) }

    mutating func element(_ element: CollectionPayloadReader.Element) throws {
        if case .entity(let entity) = element { values.append(try Value(row: entity)) }
    }
}
