import ErrorCodes
import ODataModel

/// A call of a function import of V1 to V3, with its URL and result. `ODataQuery` builds the URLs of V4 functions
/// and actions.
///
/// ```swift
/// let call = try FunctionImportCall("SeatsOf", model: model)
/// let url = try call.url(arguments: ["Id": "1", "Limit": 5])    // SeatsOf?Id='1'&Limit=5L
/// let result = try call.result(body, format: .atom(.v2))
/// ```
public struct FunctionImportCall: Sendable {
    /// The kinds of result.
    public enum ResultKind: Hashable, Sendable {
        /// No result.
        case none
        /// A value of a primitive or enumeration type.
        case simple
        /// A value of a complex type.
        case complex
        /// A collection of primitive values.
        case simpleCollection
        /// A collection of complex values.
        case complexCollection
        /// An entity.
        case entry
        /// A collection of entities.
        case feed
    }

    /// An error in a call.
    public enum CallError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The service is of V4, which has another syntax of calls.
        case unsupportedVersion(ODataVersion)
        /// The container does not declare the import.
        case unknownImport(String)
        /// The import does not declare the parameter.
        case unknownParameter(String, of: String)
        /// A required argument is missing.
        case missingArgument(String, of: String)
        /// The type of a value has no literals in URLs.
        case unsupportedArgument(String, type: TypeReference)

        /// A message that describes the error.
        public var description: String {
            switch self {
            case .unsupportedVersion(let version):
                "This call supports OData 1.0 to 3.0, and the model is of OData \(version.rawValue). Use the path of the operation."
            case .unknownImport(let name): "The container has no function import \(name)."
            case .unknownParameter(let name, let function): "\(function) has no parameter \(name)."
            case .missingArgument(let name, let function): "\(function) needs the argument \(name)."
            case .unsupportedArgument(let name, let type):
                "The argument \(name) was not written: a URL cannot contain a value of type \(type)."
            }
        }
    }

    /// The name of the import.
    public let name: String
    /// The HTTP method of the call.
    public let httpMethod: String
    /// The parameters of all directions.
    public let parameters: [ODataOperation.Parameter]
    /// The parameters that a call has arguments for, without output parameters.
    public var writableParameters: [ODataOperation.Parameter] { parameters.filter { $0.mode != .output } }
    /// The type of the result; `nil` for none.
    public let returnType: TypeReference?
    private let model: EntityDataModel

    /// Creates a call of a function import of the model.
    public init(_ name: String, model: EntityDataModel) throws(CallError) {
        guard model.version < .v4 else { throw .unsupportedVersion(model.version) }
        guard let imported = model.operationImports(name).first,
            let operation = model.operations(imported.operation).first(where: { !$0.isBound })
        else { throw .unknownImport(name) }
        self.name = name
        httpMethod = imported.httpMethod ?? (operation.kind == .action ? "POST" : "GET")
        parameters = operation.parameters
        returnType = operation.returnType
        self.model = model
    }

    /// The kind of the result.
    public var resultKind: ResultKind {
        switch returnType {
        case nil: .none
        case .collection(.entity): .feed
        case .collection(.complex): .complexCollection
        case .collection: .simpleCollection
        case .entity: .entry
        case .complex: .complex
        default: .simple
        }
    }

    /// Returns the URL relative to the service root, with the arguments as literals in the query (OData V2, *URI
    /// Conventions*, 2.2.1.3 and 3.3).
    ///
    /// - Parameter arguments: the values by parameter name; optional parameters may be null or absent.
    public func url(arguments: [String: ODataValue] = [:]) throws(CallError) -> String {
        let writable = writableParameters
        for name in arguments.keys.sorted() where !writable.contains(where: { $0.name == name }) {
            throw .unknownParameter(name, of: self.name)
        }
        var pairs: [String] = []
        for parameter in writable {
            guard let value = arguments[parameter.name], !value.isNull else {
                guard parameter.isNullable else { throw .missingArgument(parameter.name, of: name) }
                continue
            }
            guard let literal = LegacyLiteral.text(value, type: parameter.type) else {
                throw .unsupportedArgument(parameter.name, type: parameter.type)
            }
            pairs.append("\(URLTemplate.escaped(parameter.name))=\(URLTemplate.escaped(literal))")
        }
        return pairs.isEmpty ? name : "\(name)?\(pairs.joined(separator: "&"))"
    }

    /// Returns the URL of an incomplete call, with literals for known arguments and placeholders for missing
    /// required ones.
    ///
    /// A placeholder is a name in braces, such as `Id='{Id}'`, which an ``AtomLink`` can fill in.
    ///
    /// - Parameter arguments: the values by parameter name.
    public func template(arguments: [String: ODataValue]) throws(CallError) -> String {
        let missing = writableParameters.filter { arguments[$0.name] == nil && !$0.isNullable }
        var pairs: [String] = []
        for parameter in writableParameters {
            let name = URLTemplate.escaped(parameter.name)
            if let value = arguments[parameter.name] {
                guard let literal = LegacyLiteral.text(value, type: parameter.type) else {
                    throw .unsupportedArgument(parameter.name, type: parameter.type)
                }
                pairs.append("\(name)=\(URLTemplate.escaped(literal))")
            } else if missing.contains(parameter) {
                pairs.append("\(name)=\(LegacyLiteral.place(named: parameter.name, type: parameter.type))")
            }
        }
        return pairs.isEmpty ? self.name : "\(self.name)?\(pairs.joined(separator: "&"))"
    }

    /// Reads the result: a value, with entries as complex values, or null for an operation without result.
    ///
    /// - Throws: ``PayloadError`` with the position, or with the service's error.
    public func result(_ bytes: [UInt8], format: PayloadFormat) throws(PayloadError) -> ODataValue {
        guard let returnType else { return .null }
        return try PayloadDecoder(model: model, format: format).value(bytes, type: returnType).value
    }
}

extension FunctionImportCall.CallError: CodedError {
    /// `request.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unsupportedVersion: "call-version"
            case .unknownImport: "unknown-operation"
            case .unknownParameter: "unknown-parameter"
            case .missingArgument: "missing-argument"
            case .unsupportedArgument: "unsupported-argument"
            }
        return ErrorCode(rawValue: "request.\(name)")
    }
    /// The call is wrong.
    public var failureKind: FailureKind { .request }
}
