import ErrorCodes
import ODataModel

/// An error that prevents reading a batch.
public struct BatchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// The content type of the batch is not `multipart/mixed` with a boundary.
        case noBoundary(String)
        /// No line with the boundary was found.
        case noPart(boundary: String)
        /// The text ends without the closing boundary.
        case notClosed(boundary: String)
        /// The content type of a part is neither that of a request nor of a change set.
        case unexpectedContentType(String?)
        /// A transfer encoding changes the bytes.
        case unsupportedEncoding(String)
        /// A change set within a change set.
        case nestedChangeSet
        /// A change set without requests or responses.
        case emptyChangeSet
        /// A request within a change set does not change data.
        case queryInChangeSet(String)
        /// One part is larger than ``BatchPartLimits/maxPartBytes``.
        case partTooLarge
        /// The request line or status line is malformed.
        case malformedStartLine(String)
        /// A header field has no colon or no name.
        case malformedHeader(String)
        /// There are more than ``BatchPartLimits/maxParts`` parts.
        case tooManyParts
        /// There are more than ``BatchPartLimits/maxHeaders`` header fields.
        case tooManyHeaders
        /// A line is longer than ``BatchPartLimits/maxLineBytes``.
        case lineTooLong
        /// Two requests have the same id.
        case duplicateID(String)
        /// A request depends on an unknown id, or on a later request.
        case unknownDependency(String)
        /// The requests of a group are not adjacent.
        case scatteredGroup(String)
        /// The object of a JSON batch has no member of this name.
        case noMember(String)
        /// A request of a JSON batch lacks this member, or the member is empty.
        case missingMember(String)
        /// The body of a JSON batch's part is not the base64url text that its media type demands.
        case malformedBody(String)
        /// The status of a JSON batch's response is missing (then empty) or is no HTTP status.
        case malformedStatus(String)
        /// The JSON is not what it should be.
        case json(JSONError)
    }

    /// The kind of error.
    public var reason: Reason
    /// The byte offset from the start of the batch.
    public var offset: Int
    /// The line, counted from 1.
    public var line: Int
    /// A description of the expected content.
    public var expected: String

    /// Creates an error.
    public init(reason: Reason, offset: Int, line: Int, expected: String) {
        self.reason = reason
        self.offset = offset
        self.line = line
        self.expected = expected
    }

    /// Whether the error affects only one request, so that the other requests of the batch can be read.
    var isOfOneRequest: Bool {
        switch reason {
        case .unexpectedContentType, .unsupportedEncoding, .nestedChangeSet, .queryInChangeSet, .malformedStartLine,
            .malformedHeader, .duplicateID, .unknownDependency, .scatteredGroup, .tooManyHeaders, .lineTooLong,
            .missingMember, .malformedBody, .malformedStatus:
            true
        case .noBoundary, .noPart, .notClosed, .emptyChangeSet, .partTooLarge, .tooManyParts, .noMember, .json: false
        }
    }

    /// A message with the error, its position and the expected content.
    public var description: String {
        let problem =
            switch reason {
            case .noBoundary(let type): "the content type \"\(type)\" names no boundary"
            case .noPart(let boundary): "no line --\(boundary) was found"
            case .notClosed(let boundary): "the line --\(boundary)-- is missing"
            case .unexpectedContentType(let type): "the part's content type is \(type ?? "not stated")"
            case .unsupportedEncoding(let encoding): "the transfer encoding \(encoding) is not supported"
            case .nestedChangeSet: "a change set contains another change set"
            case .emptyChangeSet: "a change set is empty"
            case .queryInChangeSet(let line): "a change set contains the request \"\(line)\""
            case .partTooLarge: "a part is larger than \(BatchPartLimits.maxPartBytes) bytes"
            case .malformedStartLine(let line): "\"\(line)\" is no start of a message"
            case .malformedHeader(let line): "\"\(line)\" is no header field"
            case .tooManyParts: "there are more than \(BatchPartLimits.maxParts) parts"
            case .tooManyHeaders: "there are more than \(BatchPartLimits.maxHeaders) header fields"
            case .lineTooLong: "a line is longer than \(BatchPartLimits.maxLineBytes) bytes"
            case .duplicateID(let id): "two requests have the id \(id)"
            case .unknownDependency(let id): "no earlier request or group has the id \(id)"
            case .scatteredGroup(let group): "other requests separate the requests of group \(group)"
            case .noMember(let name): "the object has no member \(name)"
            case .missingMember(let name): "the request has no \(name)"
            case .malformedBody(let text): "the body \"\(text)\" is not base64url"
            case .malformedStatus(let text): text.isEmpty ? "the response has no status" : "the status is \(text)"
            case .json(let error): error.description
            }
        return "Batch, line \(line) (byte \(offset)): \(problem); expected \(expected)."
    }
}

extension BatchError: CodedError {
    /// `payload.batch`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "payload.batch") }
    /// The batch cannot be read.
    public var failureKind: FailureKind { .answer }
}
