import Foundation
import PackagePlugin

/// Generates the Swift code of a service before a target is built.
///
/// The target's folder holds the metadata as `odata-metadata.xml` (or `.json`), and may hold a configuration as
/// `odata-generator.json` and annotations of the metadata as `odata-annotations.xml` (or `.json`). The code is built
/// with the target and stands in no folder of the package.
@main
struct ODataGeneratorPlugin: BuildToolPlugin {
    /// How many files hold the types: a build system wants to know them before they are made.
    private static let files = 8

    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        guard let target = target as? SwiftSourceModuleTarget else { return [] }
        let folder = target.directoryURL
        let candidates = ["odata-metadata.xml", "odata-metadata.json"].map { folder.appending(path: $0) }
        guard let metadata = candidates.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
            Diagnostics.error("\(target.name) has no odata-metadata.xml or odata-metadata.json in its folder.")
            return []
        }
        let output = context.pluginWorkDirectoryURL.appending(path: "Generated")
        let configuration = folder.appending(path: "odata-generator.json")
        var arguments = [metadata.path, "--output", output.path, "--files", String(Self.files)]
        var inputs = [metadata]
        let annotations = ["odata-annotations.xml", "odata-annotations.json"].map { folder.appending(path: $0) }
        if let file = annotations.first(where: { FileManager.default.fileExists(atPath: $0.path) }) {
            arguments += ["--annotations", file.path]
            inputs.append(file)
        }
        var name = ""
        var isOfObjects = false
        if FileManager.default.fileExists(atPath: configuration.path) {
            arguments += ["--config", configuration.path]
            inputs.append(configuration)
            (name, isOfObjects) = try Self.content(of: configuration)
        }
        guard !name.isEmpty else {
            Diagnostics.error(
                "\(target.name) needs an odata-generator.json with at least a name: {\"name\": \"Shop\"}.")
            return []
        }
        let outputs =
            ["\(name)\(isOfObjects ? "Package" : "Service").swift", "\(name)Metadata.swift"]
            + (1...Self.files).map { "\(name)Types\($0).swift" }
        return [
            .buildCommand(
                displayName: "Generate \(name)\(isOfObjects ? "Database" : "Service")",
                executable: try context.tool(named: "odata-generate").url,
                arguments: arguments, inputFiles: inputs, outputFiles: outputs.map { output.appending(path: $0) })
        ]
    }

    /// The name with which the names of the generated files begin, and whether these are business objects.
    private static func content(of file: URL) throws -> (name: String, isOfObjects: Bool) {
        let object = try JSONSerialization.jsonObject(with: try Data(contentsOf: file)) as? [String: Any]
        return (object?["name"] as? String ?? "", object?["objects"] as? Bool ?? false)
    }
}
