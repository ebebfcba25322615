import ErrorCodes

/// Why a metadata document cannot be read (OData CSDL XML 4.01).
public struct CSDLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of error it is.
    public enum Reason: Hashable, Sendable {
        /// There is nothing to read.
        case empty
        /// The document is a web page: a sign-in form, a proxy's message.
        case html
        /// The document is JSON.
        case json
        /// The document is not well-formed XML; the parser's own words.
        case malformed(String)
        /// The document is not well-formed JSON; what is wrong.
        case malformedJSON(String)
        /// The document ends before it is complete.
        case truncated
        /// The document is XML but no metadata; the name of its root element.
        case notCSDL(root: String)
        /// The document has a DOCTYPE: entities are never declared, expanded or loaded.
        case documentType
        /// The document is larger than ``CSDLReader/maxBytes``.
        case tooLarge
        /// Elements are nested deeper than ``CSDLReader/maxDepth``.
        case tooDeep
        /// There are more elements than ``CSDLReader/maxElements``.
        case tooManyElements
        /// An element lacks an attribute.
        case missingAttribute(String, element: String)
        /// An attribute's value is not what it must be.
        case invalidAttribute(String, element: String, value: String)
        /// Two elements have one name.
        case duplicateName(String)
        /// The elements make no model.
        case model(ModelError)
    }

    /// What is wrong.
    public var reason: Reason
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int
    /// What was expected there.
    public var expected: String
    /// Where the document came from when another one referred to it; `nil` for the document read.
    public var source: String?

    /// Makes an error.
    public init(reason: Reason, line: Int, column: Int, expected: String, source: String? = nil) {
        self.reason = reason
        self.line = line
        self.column = column
        self.expected = expected
        self.source = source
    }

    /// What is wrong, where, and what was expected.
    public var description: String { "\(place(source, line, column: column)): \(problem)." }

    /// What is wrong and what was expected, without the place and the full stop.
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
            case .tooLarge: "The document is larger than \(CSDLReader.maxBytes) bytes"
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
    /// The text without the full stop at its end, for a sentence that goes on.
    fileprivate var withoutFullStop: String {
        utf8.last == UInt8(ascii: ".") ? String(unicodeScalars.dropLast()) : self
    }
}

/// Something in a metadata document that was read around, and may mean that the model is not whole.
public struct CSDLWarning: Hashable, Sendable, CustomStringConvertible {
    /// What was found and what was made of it.
    public var message: String
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int
    /// Where the document came from when another one referred to it; `nil` for the document read.
    public var source: String?

    /// Makes a warning.
    public init(message: String, line: Int, column: Int, source: String? = nil) {
        self.message = message
        self.line = line
        self.column = column
        self.source = source
    }

    /// The message with its place.
    public var description: String { "\(place(source, line, column: column)): \(message)" }
}

/// A place in a document in words.
private func place(_ source: String?, _ line: Int, column: Int) -> String {
    "\(source.map { "Metadata from \($0)" } ?? "Metadata"), line \(line), column \(column)"
}

extension CSDLError: CodedError {
    /// `csdl.invalid`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "csdl.invalid") }
    /// The metadata cannot be read.
    public var failureKind: FailureKind { .service }
}
