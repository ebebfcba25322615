import ODataModel

/// Generates Swift code from metadata: a structure for each type, the service with its sets and operations, and
/// the property paths for queries.
///
/// ```swift
/// let model = try CSDLReader.read(bytes)
/// let code = try Generator(model, GeneratorConfiguration(sets: ["Orders"])).generate()
/// for file in code.files { print(file.path) }
/// ```
///
/// The same metadata and configuration always result in the same bytes.
public struct Generator {
    private let model: EntityDataModel
    private let configuration: GeneratorConfiguration

    /// Creates a generator for a model.
    public init(_ model: EntityDataModel, _ configuration: GeneratorConfiguration = GeneratorConfiguration()) {
        self.model = model
        self.configuration = configuration
    }

    /// Creates a generator for metadata with annotations from documents of their own, such as those of a service that
    /// cannot be changed (``/ODataModel/CSDLReaderOptions/annotationDocuments``).
    ///
    /// - Throws: ``GeneratorError/package(place:reason:)`` for the first fault of such a document.
    public init(
        _ metadata: CSDLReader.Result, annotations: [CSDLReaderOptions.AnnotationDocument],
        _ configuration: GeneratorConfiguration = GeneratorConfiguration()
    ) throws(GeneratorError) {
        for fault in metadata.warnings {
            guard let source = fault.source, annotations.contains(where: { $0.source == source }) else { continue }
            throw .package(place: "\(source), line \(fault.line), column \(fault.column)", reason: fault.message)
        }
        self.init(metadata.model, configuration)
    }

    /// Generates all files.
    ///
    /// - Throws: ``GeneratorError`` if the configuration does not fit the metadata.
    public func generate() throws(GeneratorError) -> GeneratedCode {
        if let files = configuration.files, !(1...GeneratorConfiguration.maxFiles).contains(files) {
            throw .files(files)
        }
        var translator = try Translator(model, configuration)
        let types = translator.typeUnits()
        let service = try translator.serviceUnits()
        let container = model.container
        guard !types.isEmpty || !container.entitySets.isEmpty || !container.operationImports.isEmpty else {
            throw .nothingToGenerate
        }
        var files = service.map { GeneratedFile(path: "\($0.file).swift", text: text($0.declarations)) }
        if let count = configuration.files {
            files += parts(types, count, prefix: translator.names.prefix)
        } else {
            files += separate(types)
        }
        let overridden = Set(configuration.names.keys)
        var code = GeneratedCode(
            files: files.sorted { $0.path < $1.path },
            serviceName: translator.package == nil ? translator.names.service : translator.names.database,
            structuredTypes: translator.subset.structuredTypes.count, enumTypes: translator.subset.enumTypes.count,
            omissions: translator.subset.omissions.sorted { $0.description < $1.description })
        for element in overridden.sorted() where !isKnown(element) {
            code.omissions.append(Omission(element: element, reason: "the configuration names it, the metadata do not"))
        }
        return code
    }

    /// Returns whether the metadata contains the element of a configured name.
    private func isKnown(_ element: String) -> Bool {
        let parts = element.split(separator: "/", maxSplits: 1).map(String.init)
        guard let owner = QualifiedName(parts[0]) else { return false }
        guard parts.count == 2 else {
            return model.structuredType(owner) != nil || model.enumType(owner) != nil
                || !model.operations(owner).isEmpty
        }
        if owner == model.container.name {
            return model.entitySet(parts[1]) != nil || model.singleton(parts[1]) != nil
                || !model.operationImports(parts[1]).isEmpty
        }
        if let shape = model.shape(owner) {
            return shape.property(parts[1]) != nil || shape.navigationProperty(parts[1]) != nil
        }
        if let type = model.enumType(owner) { return type.members.contains { $0.name == parts[1] } }
        return model.operations(owner).contains { $0.parameters.contains { $0.name == parts[1] } }
    }

    // MARK: Files

    private func text(_ declarations: [SwiftDeclaration]) -> String {
        var renderer = SwiftRenderer(access: configuration.access)
        renderer.render(declarations)
        return head + renderer.text
    }

    private var head: String {
        let imports = (configuration.objects ? ["ObjectAPI"] : []) + ["ODataModel", "ODataQuery", "ODataService"]
        return """
            // Generated from the metadata of an OData service. Changes made here are lost.
            // swift-format-ignore-file
            \(imports.map { "import \($0)" }.joined(separator: "\n"))


            """
    }

    /// Returns one file for each type. Names that differ only in case get a number, because some file systems
    /// ignore case.
    private func separate(_ units: [Translator.Unit]) -> [GeneratedFile] {
        var taken: Set<String> = []
        return units.map { unit in
            var path = "\(unit.folder)/\(unit.file)"
            var number = 2
            while !taken.insert(path.lowercased()).inserted {
                path = "\(unit.folder)/\(unit.file)-\(number)"
                number += 1
            }
            return GeneratedFile(path: "\(path).swift", text: text(unit.declarations))
        }
    }

    /// Distributes declarations evenly over files with fixed names; some files may contain no declarations.
    private func parts(_ units: [Translator.Unit], _ count: Int, prefix: String) -> [GeneratedFile] {
        let sizes = units.map { unit -> Int in
            var renderer = SwiftRenderer(access: configuration.access)
            renderer.render(unit.declarations)
            return renderer.text.utf8.count
        }
        let share = max(1, (sizes.reduce(0, +) + count - 1) / count)
        var contents = [[SwiftDeclaration]](repeating: [], count: count)
        var written = 0
        for (unit, size) in zip(units, sizes) {
            contents[min(count - 1, written / share)] += unit.declarations
            written += size
        }
        return contents.enumerated().map { index, declarations in
            GeneratedFile(path: "\(prefix)Types\(index + 1).swift", text: text(declarations))
        }
    }
}

/// The result of a ``Generator``.
public struct GeneratedCode: Hashable, Sendable {
    /// The files, sorted by path.
    public var files: [GeneratedFile]
    /// The name of the generated service, such as `NorthwindService`, or of the package database, such as
    /// `CrmDatabase`.
    public var serviceName: String
    /// The number of entity and complex types.
    public var structuredTypes: Int
    /// The number of enumeration types.
    public var enumTypes: Int
    /// The elements without generated code, with the reasons.
    public var omissions: [Omission]

    /// The number of lines of all files.
    public var lineCount: Int { files.reduce(0) { $0 + $1.lineCount } }
}

/// One file of generated code.
public struct GeneratedFile: Hashable, Sendable {
    /// The path relative to the output folder, separated by slashes.
    public var path: String
    /// The content of the file.
    public var text: String

    /// The number of lines of the file.
    public var lineCount: Int { text.utf8.count { $0 == UInt8(ascii: "\n") } }
}
