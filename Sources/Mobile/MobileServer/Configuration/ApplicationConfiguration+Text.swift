extension ApplicationConfiguration {
    /// Reads the body of a version.
    ///
    /// - Throws: ``ConfigurationError``.
    public init(canonicalJSON body: [UInt8]) throws(ConfigurationError) {
        throw ConfigurationError(problems: [
            ConfigurationProblem(path: "version", line: 0, column: 0, message: "Versions cannot be read yet.")
        ])
    }

    /// Returns the configuration as JSON with sorted keys, without the values that are defaults.
    public func canonicalJSON() -> [UInt8] { Array("{}".utf8) }
}
