/// The name and the version of Outpost, as the tool prints it, and as clients and servers send it.
///
/// This is the only place of the version.
public enum OutpostProduct {
    /// The version: three numbers, as in Semantic Versioning 2.0.0.
    public static let version = "0.2.0"

    /// The value of `User-Agent` and `Server` (RFC 9110, 10.1.5 and 10.2.4).
    public static let token = "Outpost/\(version)"
}
