// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

open class LAContext {
    public init() {}
    open var localizedReason = ""
    open var localizedFallbackTitle: String?
    open func invalidate() {}
}
