import ODataModel

extension Translator {
    /// Returns the declaration of the service with its sets, singletons and imports.
    mutating func service() -> [SwiftDeclaration] {
        var members: [SwiftDeclaration] = [
            .property(SwiftProperty(name: "odataService", type: "DataService", body: .variable)),
            .function(
                SwiftFunction(
                    parameters: [.init(name: "odataService", type: "DataService")],
                    body: ["self.odataService = odataService"])),
        ]
        for set in model.container.entitySets.sorted(by: { $0.name < $1.name })
        where subset.isWanted(set.name) && subset.contains(set.type) {
            members.append(
                source(
                    Self.documentation(set, "\(Self.code(set.name)), entities of \(Self.code(set.type))."), set.name,
                    type: "TypedCollection<\(names.type(set.type))>", label: "set"))
        }
        for singleton in model.container.singletons.sorted(by: { $0.name < $1.name })
        where subset.isWanted(singleton.name) && subset.contains(singleton.type) {
            members.append(
                source(
                    Self.documentation(
                        singleton, "\(Self.code(singleton.name)), the only \(Self.code(singleton.type)) of its kind."),
                    singleton.name, type: "EntityRequest<\(names.type(singleton.type))>", label: "singleton"))
        }
        members += importMethods()
        let service = SwiftType(
            kind: .struct,
            documentation: Self.documentation(
                model.container, "\(Self.code(model.container.name)): the resources of the service."),
            name: names.service, inherits: ["TypedService"], members: members)
        return [.type(service)]
    }

    private func source(_ documentation: [String], _ name: String, type: String, label: String) -> SwiftDeclaration {
        .property(
            SwiftProperty(
                documentation: documentation, name: names.set(name), type: type,
                body: .computed("\(type)(odataService, \(label): \(Self.literal(name)))")))
    }

    /// Returns the part of the metadata that the generated code needs.
    ///
    /// - Throws: ``GeneratorError/metadata(_:)`` if the written metadata cannot be read without changes.
    func metadata() throws(GeneratorError) -> SwiftType {
        let reduced = try subset.reducedModel(of: model)
        let bytes = CSDLWriter.xml(reduced, version: model.version)
        let again: EntityDataModel
        do throws(CSDLError) {
            again = try CSDLReader.read(bytes)
        } catch {
            throw .metadata(error.description)
        }
        for name in subset.structuredTypes
        where again.shape(name)?.properties.map(\.type) != model.shape(name)?.properties.map(\.type) {
            throw .metadata("\(name) would have other properties.")
        }
        return SwiftType(
            kind: .enum, documentation: ["The metadata that the code was generated from, as far as it needs them."],
            name: names.metadata,
            members: [
                .property(
                    SwiftProperty(
                        documentation: ["Read once, when they are first needed."], isStatic: true, name: "metadata",
                        type: "GeneratedMetadata", body: .constant("GeneratedMetadata(text)"))),
                .property(
                    SwiftProperty(
                        documentation: ["Their model."], isStatic: true, name: "model", type: "EntityDataModel",
                        body: .computed("metadata.model"))),
                .property(
                    SwiftProperty(
                        isStatic: true, name: "text", type: "String",
                        body: .text(Self.compact(String(decoding: bytes, as: UTF8.self))))),
            ])
    }

    /// Returns the lines of an XML document, joined so that each child element of a schema has one line.
    private static func compact(_ xml: String) -> [String] {
        var lines: [String] = []
        var depth = 0
        for line in xml.split(separator: "\n") {
            let content = line.drop { $0 == " " }
            // Content within a child element of a schema is appended to its line.
            depth = (line.count - content.count) / 2
            let closes = content.hasPrefix("</") && depth == maxDepthOfLine
            if depth > maxDepthOfLine || closes, !lines.isEmpty {
                lines[lines.count - 1] += content
            } else {
                lines.append(String(content))
            }
        }
        return lines
    }

    /// The maximum depth of elements with their own line: Edmx, DataServices, Schema and its children.
    private static var maxDepthOfLine: Int { 3 }
}
