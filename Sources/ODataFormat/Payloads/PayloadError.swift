import ODataModel

/// Why a payload gives nothing.
public enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The payload is not what it should be; the error has the place and the property path.
    case malformed(JSONError)
    /// The service sent an error instead, or broke off within the payload with one
    /// (OData JSON Format 4.01, 21 *Error Response* and 21.2 *In-Stream Error*).
    case service(ODataErrorPayload)
    /// The payload names a type that the model does not declare.
    case unknownType(QualifiedName)
    /// One element is larger than ``CollectionPayloadReader/maxElementBytes``.
    case elementTooLarge(at: JSONPosition)

    /// What is wrong.
    public var description: String {
        switch self {
        case .malformed(let error): error.description
        case .service(let error): "The service reported an error: \(error)"
        case .unknownType(let name): "The model does not declare the type \(name)."
        case .elementTooLarge(let position):
            "JSON, \(position): an element is larger than \(CollectionPayloadReader.maxElementBytes) bytes."
        }
    }
}
