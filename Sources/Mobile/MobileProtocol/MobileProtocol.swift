/// The namespace of the device API (`mobile-server.md` 6.2).
public enum MobileNamespace {
    /// The namespace of the types.
    public static let name = "Outpost.Mobile"
}
