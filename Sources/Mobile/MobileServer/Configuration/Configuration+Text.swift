import Yams

extension ServerConfiguration {
    /// Reads a YAML file.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - path: The path, for messages.
    /// - Throws: ``ConfigurationError`` with all mistakes at once.
    public init(yaml text: String, path: String) throws(ConfigurationError) {
        var warnings: [ConfigurationProblem] = []
        try self.init(yaml: text, path: path, warnings: &warnings)
    }

    /// Reads a YAML file, and returns its warnings.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - path: The path, for messages.
    ///   - warnings: The findings with which the file can be used nevertheless.
    /// - Throws: ``ConfigurationError`` with all mistakes at once.
    public init(
        yaml text: String, path: String, warnings: inout [ConfigurationProblem]
    ) throws(ConfigurationError) {
        self.init()
        let reader = ConfigurationReader(path: path)
        let root = reader.root(of: text)
        if let root { ServerKeySchema.configuration.read(root, into: &self, named: "The configuration", reader) }
        ConfigurationChecks.check(self, at: root, reader)
        let mistakes = reader.sorted.filter { !$0.isWarning }
        guard mistakes.isEmpty else { throw ConfigurationError(problems: reader.sorted) }
        warnings = reader.sorted
    }

    /// The configuration as YAML, without the values that are defaults.
    public var yaml: String {
        ServerKeySchema.configuration.write(self, standard: ServerConfiguration()).yaml
    }

    /// The names of all keys below the part of an application, as `server.listen`.
    static var keyNames: [String] { ServerKeySchema.configuration.fields.map(\.key) }
}

extension ApplicationConfiguration {
    /// Reads an application as YAML: the keys of `applications.A`.
    ///
    /// - Parameters:
    ///   - text: The content.
    ///   - path: The path, for messages.
    /// - Throws: ``ConfigurationError`` with all mistakes at once.
    public init(yaml text: String, path: String) throws(ConfigurationError) {
        var warnings: [ConfigurationProblem] = []
        try self.init(yaml: text, path: path, warnings: &warnings)
    }

    /// Reads an application as YAML, and returns its warnings.
    ///
    /// - Parameters:
    ///   - text: The content.
    ///   - path: The path, for messages.
    ///   - warnings: The findings with which the application can be used nevertheless.
    /// - Throws: ``ConfigurationError`` with all mistakes at once.
    public init(
        yaml text: String, path: String, warnings: inout [ConfigurationProblem]
    ) throws(ConfigurationError) {
        self.init()
        let reader = ConfigurationReader(path: path)
        let root = reader.root(of: text)
        if let root { ApplicationKeySchema.application.read(root, into: &self, named: "The application", reader) }
        ConfigurationChecks.check(self, at: root, reader)
        let mistakes = reader.sorted.filter { !$0.isWarning }
        guard mistakes.isEmpty else { throw ConfigurationError(problems: mistakes) }
        warnings = reader.sorted
    }

    /// Reads the body of a version. Keys that this build does not know are mistakes.
    ///
    /// - Throws: ``ConfigurationError``.
    public init(canonicalJSON body: [UInt8]) throws(ConfigurationError) {
        guard let text = String(validating: body, as: UTF8.self) else {
            throw ConfigurationError(problems: [
                ConfigurationProblem(path: "version", line: 0, column: 0, message: "The version is no text.")
            ])
        }
        // JSON is YAML.
        try self.init(yaml: text, path: "version")
    }

    /// Returns the configuration as JSON with sorted keys, without the values that are defaults.
    public func canonicalJSON() -> [UInt8] { Array(tree.json.utf8) }

    /// The configuration as YAML, without the values that are defaults.
    public var yaml: String { tree.yaml }

    private var tree: ConfigurationTree {
        ApplicationKeySchema.application.write(self, standard: ApplicationConfiguration())
    }
}

extension ApplicationConfiguration {
    /// The values that are no defaults, by their keys with dots between.
    var leaves: [String: ConfigurationTree] {
        var leaves: [String: ConfigurationTree] = [:]
        func add(_ tree: ConfigurationTree, _ path: String) {
            guard case .map(let map) = tree, !map.isEmpty else {
                if !path.isEmpty { leaves[path] = tree }
                return
            }
            for (key, value) in map { add(value, path.isEmpty ? key : "\(path).\(key)") }
        }
        add(tree, "")
        return leaves
    }
}
