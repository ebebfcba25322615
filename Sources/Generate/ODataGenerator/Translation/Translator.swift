import ODataModel

/// Translates a model into structured Swift code: the second of three layers between the document and the text.
struct Translator {
    let model: EntityDataModel
    let configuration: GeneratorConfiguration
    let names: NameTable
    /// The elements for which code is generated, and those that are left out.
    var subset: ModelSubset
    let operationNames: [QualifiedName]
    /// The bound operations by the element type of their binding parameter.
    private(set) var operationsByBinding: [TypeReference: [ODataOperation]] = [:]

    /// The object package; `nil` for proxies.
    let package: PackageModel?

    init(_ model: EntityDataModel, _ configuration: GeneratorConfiguration) throws(GeneratorError) {
        self.model = model
        self.configuration = configuration
        package = try configuration.objects ? PackageCheck(model, configuration).package() : nil
        subset = try ModelSubset(of: model, package?.choosing(configuration) ?? configuration)
        names = try NameTable(model, subset, configuration: configuration, package: package)
        let operations = (model.schemas + model.includedSchemas).flatMap { $0.operations.map(\.name) }
        operationNames = Set(operations).sorted { $0.description < $1.description }
        operationsByBinding = bindings()
    }

    /// The declarations of one type or of the service, with the folder and name of their file.
    struct Unit {
        var folder: String
        var file: String
        var declarations: [SwiftDeclaration]
    }

    /// Returns all declarations except those of the service, in the order of their Swift names.
    mutating func typeUnits() -> [Unit] {
        var units: [Unit] = []
        for name in subset.structuredTypes {
            guard let type = model.structuredType(name), let shape = model.shape(name) else { continue }
            let folder = type.kind == .entity ? "Entities" : "ComplexTypes"
            if let package, type.kind == .entity {
                units.append(
                    Unit(folder: folder, file: names.type(name), declarations: object(type, shape, in: package)))
                continue
            }
            units.append(Unit(folder: folder, file: names.type(name), declarations: structure(type, shape)))
        }
        for name in subset.enumTypes {
            guard let type = model.enumType(name) else { continue }
            units.append(Unit(folder: "Enumerations", file: names.type(name), declarations: [enumeration(type)]))
        }
        return units.sorted { ($0.folder, $0.file) < ($1.folder, $1.file) }
    }

    mutating func serviceUnits() throws(GeneratorError) -> [Unit] {
        if let package {
            return [
                Unit(folder: "", file: "\(names.prefix)Package", declarations: self.package(package)),
                Unit(folder: "", file: names.metadata, declarations: [.type(try metadata())]),
            ]
        }
        omitOperations()
        return [
            Unit(folder: "", file: names.service, declarations: service() + operationsBoundToValues()),
            Unit(folder: "", file: names.metadata, declarations: [.type(try metadata())]),
        ]
    }

    // MARK: Types of values

    /// Returns the Swift type of a non-null value.
    func swiftType(_ type: TypeReference) -> String {
        switch type {
        case .primitive(let primitive), .typeDefinition(_, let primitive): Self.swiftType(primitive)
        case .enumeration(let name): subset.contains(type) ? names.type(name) : "ODataValue"
        case .complex(let name?), .entity(let name?): subset.contains(type) ? names.type(name) : "ODataEntity"
        case .complex(nil), .entity(nil): "ODataEntity"
        case .collection(let element): "[\(swiftType(element))]"
        case .untyped: "ODataValue"
        }
    }

    private static func swiftType(_ type: PrimitiveType) -> String {
        switch type {
        case .binary: "[UInt8]"
        case .boolean: "Bool"
        case .byte: "UInt8"
        case .sbyte: "Int8"
        case .int16: "Int16"
        case .int32: "Int32"
        case .int64: "Int64"
        case .single: "Float"
        case .double: "Double"
        case .decimal: "ODataDecimal"
        case .string: "String"
        case .guid: "ODataGuid"
        case .date: "ODataDate"
        case .timeOfDay: "ODataTimeOfDay"
        case .dateTime: "ODataDateTime"
        case .dateTimeOffset: "ODataDateTimeOffset"
        case .duration, .time: "ODataDuration"
        case .stream: "ODataValue"
        default: "GeoValue"
        }
    }

    // MARK: Texts

    /// Returns a text as a Swift string literal.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if isInvisible(scalar) {
                    result += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isWhitespace && scalar != " "
        }
    }

    static func literal(_ name: QualifiedName) -> String {
        "QualifiedName(\(literal(name.namespace)), \(literal(name.name)))"
    }

    /// Returns the description of an element in the metadata as lines of a documentation comment, or `facts` if
    /// there is none.
    static func documentation(_ element: some AnnotatedElement, _ facts: String) -> [String] {
        let short = element.summary ?? element.label ?? element.quickInfo
        var lines = short.map { self.lines($0) } ?? []
        if lines.isEmpty { return [facts] }
        if lines.count == 1, lines[0].count + facts.count < 110 {
            lines[0] += lines[0].hasSuffix(".") ? " \(facts)" : ". \(facts)"
        } else {
            lines += ["", facts]
        }
        if let long = element.longDescription, long != short { lines += [""] + self.lines(long) }
        return lines
    }

    /// Splits a text into lines, and replaces control and format characters.
    static func lines(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { line in
            let scalars = line.unicodeScalars.map { scalar in
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                    ? Character(" ") : Character(scalar)
            }
            return String(scalars).split(separator: " ").joined(separator: " ")
        }.filter { !$0.isEmpty }
    }

    /// Returns a name in backticks for documentation comments.
    static func code(_ text: some CustomStringConvertible) -> String {
        "`\(lines(text.description).joined(separator: " ").replacing("`", with: "'"))`"
    }
}
