import ErrorCodes

/// An error in a metadata document that prevents reading it (OData CSDL XML 4.01).
public struct CSDLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// The document is empty.
        case empty
        /// The document is a web page, such as a sign-in form or a proxy's message.
        case html
        /// The document is JSON.
        case json
        /// The document is not well-formed XML; the associated value is the parser's message.
        case malformed(String)
        /// The document is not well-formed JSON; the associated value describes the fault.
        case malformedJSON(String)
        /// The document ends before it is complete.
        case truncated
        /// The document is XML but not metadata; the associated value is the name of its root element.
        case notCSDL(root: String)
        /// The document has a DOCTYPE. Entities are never declared, expanded or loaded.
        case documentType
        /// The document is larger than the caller's limit or ``CSDLReader/maxBytes``, with the limit in bytes.
        case tooLarge(limit: Int)
        /// Elements are nested deeper than ``CSDLReader/maxDepth``.
        case tooDeep
        /// There are more elements than ``CSDLReader/maxElements``.
        case tooManyElements
        /// An element lacks a required attribute.
        case missingAttribute(String, element: String)
        /// The value of an attribute is invalid.
        case invalidAttribute(String, element: String, value: String)
        /// Two elements have the same name.
        case duplicateName(String)
        /// The elements do not form a valid model.
        case model(ModelError)
    }

    /// The kind of error.
    public var reason: Reason
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1.
    public var column: Int
    /// A description of the expected content.
    public var expected: String
    /// The source of a referenced document; `nil` for the main document.
    public var source: String?

    /// Creates an error.
    public init(reason: Reason, line: Int, column: Int, expected: String, source: String? = nil) {
        self.reason = reason
        self.line = line
        self.column = column
        self.expected = expected
        self.source = source
    }

    /// A message with the error, its position and the expected content.
    public var description: String { "\(place(source, line, column: column)): \(problem)." }

    /// The error and the expected content, without the position and the full stop.
    var problem: String {
        let found =
            switch reason {
            case .empty: "The document is empty"
            case .html: "This is a web page, not metadata: perhaps a sign-in page or a proxy's message"
            case .json: "This is JSON, not XML"
            case .malformed(let words): "Not well-formed XML: \(words.withoutFullStop)"
            case .malformedJSON(let words): "Not well-formed JSON: \(words.withoutFullStop)"
            case .truncated: "The document ends too early: the transfer may have been cut"
            case .notCSDL(let root): "This is XML, but no metadata: its root element is \(root)"
            case .documentType: "The document has a DOCTYPE, which is refused"
            case .tooLarge(let limit): "The document is larger than \(limit) bytes"
            case .tooDeep: "Elements are nested deeper than \(CSDLReader.maxDepth) levels"
            case .tooManyElements: "There are more than \(CSDLReader.maxElements) elements"
            case .missingAttribute(let name, let element): "\(element) lacks the attribute \(name)"
            case .invalidAttribute(let name, let element, let value): "\(name)=\"\(value)\" of \(element) is not valid"
            case .duplicateName(let name): "The name \(name) is declared twice"
            case .model(let error): error.description.withoutFullStop
            }
        return "\(found); expected \(expected)"
    }
}

extension String {
    /// The text without the full stop at its end, for use within a sentence.
    fileprivate var withoutFullStop: String {
        utf8.last == UInt8(ascii: ".") ? String(unicodeScalars.dropLast()) : self
    }
}

/// Something that the reader skipped in a metadata document; the model may be incomplete.
public struct CSDLWarning: Hashable, Sendable, CustomStringConvertible {
    /// A description of the fault and of its treatment.
    public var message: String
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1.
    public var column: Int
    /// The source of a referenced document; `nil` for the main document.
    public var source: String?

    /// Creates a warning.
    public init(message: String, line: Int, column: Int, source: String? = nil) {
        self.message = message
        self.line = line
        self.column = column
        self.source = source
    }

    /// The message with its position.
    public var description: String { "\(place(source, line, column: column)): \(message)" }
}

/// Returns a description of a position in a document.
private func place(_ source: String?, _ line: Int, column: Int) -> String {
    "\(source.map { "Metadata from \($0)" } ?? "Metadata"), line \(line), column \(column)"
}

extension CSDLError: CodedError {
    /// `csdl.invalid`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "csdl.invalid") }
    /// The metadata cannot be read.
    public var failureKind: FailureKind { .service }
}
