/// The rule for names of applications, destinations, queries and security configurations.
public enum ApplicationName {
    /// Returns the objection to a name; `nil` for a good one.
    public static func objection(to name: String) -> String? { ApplicationKeySchema.objection(to: name) }
}
