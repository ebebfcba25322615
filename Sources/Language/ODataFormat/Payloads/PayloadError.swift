import ErrorCodes
import ODataModel

/// An error that prevents reading or writing a payload.
public enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The JSON is malformed or unexpected; the associated value has the position and the property path.
    case malformed(JSONError)
    /// The XML is malformed or unexpected; the associated value has the position and the property path.
    case malformedXML(XMLPayloadError)
    /// The service sent an error instead of the payload or within it (OData JSON Format 4.01, 21 *Error Response*
    /// and 21.2 *In-Stream Error*).
    case service(ODataErrorPayload)
    /// The payload is not a service document but may be a payload of another kind.
    case noServiceDocument(NoServiceDocument)
    /// The model does not declare the required entity type or complex type.
    case unknownType(QualifiedName)
    /// One element is larger than ``CollectionPayloadReader/maxElementBytes``.
    case elementTooLarge(at: JSONPosition)
    /// A document that is read from chunks is larger than the caller's limit, in bytes.
    case tooLarge(limit: Int)
    /// The format does not support the content.
    case unsupported(String)

    /// A message that describes the error.
    public var description: String {
        switch self {
        case .malformed(let error): error.description
        case .malformedXML(let error): error.description
        case .service(let error): "The service reported an error: \(error)"
        case .noServiceDocument(let error): error.description
        case .unknownType(let name): "The model does not declare the type \(name)."
        case .elementTooLarge(let position):
            "JSON, \(position): an element is larger than \(CollectionPayloadReader.maxElementBytes) bytes."
        case .tooLarge(let limit): "The document is larger than \(limit) bytes; expected a smaller document."
        case .unsupported(let what):
            "The payload was not written: its format cannot express \(what). Choose JSON of OData 4.0 or newer."
        }
    }
}

/// A description of a payload that is not a service document.
public struct NoServiceDocument: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the actual content, such as `the element feed`.
    public var found: String
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1.
    public var column: Int
    /// A description of the expected content.
    public var expected: String

    /// A message with the actual content, its position and the expected content.
    public var description: String {
        "No service document: line \(line), column \(column) has \(found); expected \(expected)."
    }
}

/// An error that prevents reading a payload in XML.
public struct XMLPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// The document is not well-formed; the associated value is the parser's message.
        case notWellFormed(String)
        /// The document ends before it is complete.
        case truncated
        /// The document has a DOCTYPE. Entities are never declared, expanded or loaded.
        case documentType
        /// Elements are nested deeper than ``XMLPayloadLimits/maxDepth``.
        case tooDeep
        /// One element of a feed, or a whole document, is larger than ``XMLPayloadLimits/maxElementBytes``.
        case tooLarge
        /// The document contains an unexpected element or text; the associated value describes it.
        case unexpected(String)
        /// An element lacks an attribute.
        case missingAttribute(String)
        /// The text is not valid for the expected type.
        case invalidValue(String)
        /// The type does not declare the property and is not open.
        case unknownProperty(String)
        /// An element occurs twice.
        case duplicate(String)
    }

    /// The kind of error.
    public var reason: Reason
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1, near the start of the element.
    public var column: Int
    /// A description of the expected content.
    public var expected: String
    /// The property path from the outermost entry, such as `Items/0/Price`; empty at the top.
    public var path: String

    /// Creates an error.
    public init(reason: Reason, line: Int, column: Int, expected: String, path: String = "") {
        self.reason = reason
        self.line = line
        self.column = column
        self.expected = expected
        self.path = path
    }

    /// Returns the error with the name of an enclosing property or index prepended to its path.
    public func within(_ name: String) -> XMLPayloadError {
        var result = self
        result.path = path.isEmpty ? name : "\(name)/\(path)"
        return result
    }

    /// A message with the error, its position and the expected content.
    public var description: String {
        let problem =
            switch reason {
            case .notWellFormed(let words): "not well-formed: \(words)"
            case .truncated: "the document ends too early"
            case .documentType: "the document has a DOCTYPE, which is refused"
            case .tooDeep: "elements are nested deeper than \(XMLPayloadLimits.maxDepth) levels"
            case .tooLarge: "an element is larger than \(XMLPayloadLimits.maxElementBytes) bytes"
            case .unexpected(let found): "found \(found)"
            case .missingAttribute(let name): "the attribute \(name) is missing"
            case .invalidValue(let text): "\"\(text)\" is not valid"
            case .unknownProperty(let name): "\(name) is not declared"
            case .duplicate(let name): "\(name) appears twice"
            }
        let place = path.isEmpty ? "" : ", property \(path)"
        return "XML, line \(line), column \(column)\(place): \(problem); expected \(expected)."
    }
}

/// The limits of a payload in XML.
public enum XMLPayloadLimits {
    /// The maximum nesting depth of elements.
    public static let maxDepth = 100
    /// The maximum size of an element of a feed, or of any other document, in bytes of names and text.
    public static let maxElementBytes = 64 * 1024 * 1024
}

extension PayloadError: CodedError {
    /// `payload.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .malformed: "malformed"
            case .malformedXML: "malformed"
            case .service: "service"
            case .noServiceDocument: "no-service-document"
            case .unknownType: "unknown-type"
            case .elementTooLarge, .tooLarge: "too-large"
            case .unsupported: "unsupported"
            }
        return ErrorCode(rawValue: "payload.\(name)")
    }
    /// The document is not what it should be.
    public var failureKind: FailureKind { .answer }
}

extension NoServiceDocument: CodedError {
    /// `payload.no-service-document`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "payload.no-service-document") }
    /// The document is none.
    public var failureKind: FailureKind { .answer }
}

extension XMLPayloadError: CodedError {
    /// `payload.malformed`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "payload.malformed") }
    /// The document cannot be read.
    public var failureKind: FailureKind { .answer }
}
