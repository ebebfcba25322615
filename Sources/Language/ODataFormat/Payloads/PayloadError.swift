import ErrorCodes
import ODataModel

/// Why a payload gives nothing.
public enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The payload is not what it should be; the error has the place and the property path.
    case malformed(JSONError)
    /// The same of a payload in XML.
    case malformedXML(XMLPayloadError)
    /// The service sent an error instead, or broke off within the payload with one
    /// (OData JSON Format 4.01, 21 *Error Response* and 21.2 *In-Stream Error*).
    case service(ODataErrorPayload)
    /// The payload is no service document, though it may be a payload of another kind.
    case noServiceDocument(NoServiceDocument)
    /// The model declares no entity type, or complex type, of this name: without one nothing can be read.
    case unknownType(QualifiedName)
    /// One element is larger than ``CollectionPayloadReader/maxElementBytes``.
    case elementTooLarge(at: JSONPosition)
    /// The format has no way to say it.
    case unsupported(String)

    /// What is wrong.
    public var description: String {
        switch self {
        case .malformed(let error): error.description
        case .malformedXML(let error): error.description
        case .service(let error): "The service reported an error: \(error)"
        case .noServiceDocument(let error): error.description
        case .unknownType(let name): "The model does not declare the type \(name)."
        case .elementTooLarge(let position):
            "JSON, \(position): an element is larger than \(CollectionPayloadReader.maxElementBytes) bytes."
        case .unsupported(let what): "This format cannot say it: \(what)."
        }
    }
}

/// What stands where a service document should.
public struct NoServiceDocument: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found, such as `the element feed`.
    public var found: String
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int
    /// What was expected there.
    public var expected: String

    /// What was found, where, and what was expected.
    public var description: String {
        "No service document: line \(line), column \(column) has \(found); expected \(expected)."
    }
}

/// Why a payload in XML cannot be read.
public struct XMLPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of error it is.
    public enum Reason: Hashable, Sendable {
        /// The document is not well-formed; the parser's own words.
        case notWellFormed(String)
        /// The document ends before it is complete.
        case truncated
        /// The document has a DOCTYPE: entities are never declared, expanded or loaded.
        case documentType
        /// Elements are nested deeper than ``XMLPayloadLimits/maxDepth``.
        case tooDeep
        /// One element of a feed, or a whole document, is larger than ``XMLPayloadLimits/maxElementBytes``.
        case tooLarge
        /// Another element or text stands there.
        case unexpected(String)
        /// An element lacks an attribute.
        case missingAttribute(String)
        /// The text is no value of the type expected.
        case invalidValue(String)
        /// The type declares no such property and is not open.
        case unknownProperty(String)
        /// An element stands twice.
        case duplicate(String)
    }

    /// What is wrong.
    public var reason: Reason
    /// The line, from 1.
    public var line: Int
    /// The column, from 1: near the start of the element at fault.
    public var column: Int
    /// What was expected there.
    public var expected: String
    /// The property path from the outermost entry, such as `Items/0/Price`; empty at the top.
    public var path: String

    /// Makes an error.
    public init(reason: Reason, line: Int, column: Int, expected: String, path: String = "") {
        self.reason = reason
        self.line = line
        self.column = column
        self.expected = expected
        self.path = path
    }

    /// The same error seen from one level further out.
    public func within(_ name: String) -> XMLPayloadError {
        var result = self
        result.path = path.isEmpty ? name : "\(name)/\(path)"
        return result
    }

    /// What is wrong, where, and what was expected.
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
            case .duplicate(let name): "\(name) stands twice"
            }
        let place = path.isEmpty ? "" : ", property \(path)"
        return "XML, line \(line), column \(column)\(place): \(problem); expected \(expected)."
    }
}

/// What a payload in XML may hold at most.
public enum XMLPayloadLimits {
    /// How deep elements may be nested.
    public static let maxDepth = 100
    /// The size of the largest single element of a feed, or of any other document, in bytes of names and text.
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
            case .elementTooLarge: "too-large"
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
