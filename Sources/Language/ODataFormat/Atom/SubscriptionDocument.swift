import ODataModel

/// A subscription to changes, as V2 gateways support it: an Atom entry that is posted to a collection's
/// subscription link.
///
/// ```swift
/// let wish = SubscriptionDocument(id: "1", title: "Orders", deliveryAddress: url, collection: "Orders", filter: "")
/// post(wish.write(), to: collection.subscriptionLink)
/// ```
public struct SubscriptionDocument: Hashable, Sendable {
    /// The id of the subscription; `nil` before the service has assigned one.
    public var id: String?
    /// The title for display.
    public var title: String
    /// The URL of the push endpoint for notifications.
    public var deliveryAddress: String
    /// The collection to watch.
    public var collection: String
    /// The filter of changes, as in `$filter`; empty for all changes.
    public var filter: String
    /// The kinds of change to report.
    public var changeType: String?
    /// Whether notifications are kept until they can be delivered.
    public var persistsNotifications: Bool

    /// Creates a document.
    public init(
        id: String? = nil, title: String, deliveryAddress: String, collection: String, filter: String = "",
        changeType: String? = nil, persistsNotifications: Bool = false
    ) {
        self.id = id
        self.title = title
        self.deliveryAddress = deliveryAddress
        self.collection = collection
        self.filter = filter
        self.changeType = changeType
        self.persistsNotifications = persistsNotifications
    }

    /// Reads the entry in a service's response.
    ///
    /// - Throws: ``PayloadError`` with the position, or with the service's error.
    public init(xml bytes: [UInt8]) throws(PayloadError) {
        let root = try XMLBody.read(bytes)
        self = try XMLBody.mapped { () throws(XMLPayloadError) in
            guard root.isAtom("entry") else {
                throw root.error(.unexpected("the element \(root.name)"), expected: "an Atom entry")
            }
            let content = root.elements.first { $0.isAtom("content") }?.elements ?? root.elements
            guard let properties = content.first(where: { $0.isMetadata("properties") }) else {
                throw root.error(.unexpected("no properties"), expected: "the properties of a subscription")
            }
            func text(_ name: String) -> String? { properties.elements.first { $0.name == name }?.trimmedText }
            guard let address = text("deliveryAddress"), let collection = text("collection") else {
                let missing = ["deliveryAddress", "collection"].filter { text($0) == nil }.joined(separator: " and ")
                throw properties.error(
                    .unexpected("properties without \(missing)"), expected: "deliveryAddress and collection")
            }
            return SubscriptionDocument(
                id: text("ID") ?? root.elements.first { $0.isAtom("id") }?.trimmedText,
                title: text("title") ?? root.elements.first { $0.isAtom("title") }?.trimmedText ?? "",
                deliveryAddress: address, collection: collection, filter: text("filter") ?? "",
                changeType: text("changeType"), persistsNotifications: text("persistNotifications") == "true")
        }
    }

    /// Writes the entry.
    public func write() -> [UInt8] {
        var xml = XMLOutput()
        xml.declaration()
        xml.begin("entry")
        xml.attribute("xmlns", AtomNames.atom)
        xml.attribute("xmlns:d", AtomNames.data(.v2))
        xml.attribute("xmlns:m", AtomNames.metadata(.v2))
        if let id { xml.element("id", text: id) }
        xml.element("title", text: title)
        xml.element("updated", text: ODataDateTimeOffset(seconds: 0).description)
        xml.begin("author")
        xml.element("name", text: "")
        xml.end()
        xml.begin("content")
        xml.attribute("type", "application/xml")
        xml.begin("m:properties")
        if let id { xml.element("d:ID", text: id) }
        xml.element("d:deliveryAddress", text: deliveryAddress)
        xml.element(
            "d:persistNotifications", [("m:type", "Edm.Boolean")], text: persistsNotifications ? "true" : "false")
        xml.element("d:title", text: title)
        xml.element("d:collection", text: collection)
        xml.element("d:filter", text: filter)
        if let changeType { xml.element("d:changeType", text: changeType) }
        xml.end()
        xml.end()
        xml.end()
        return xml.bytes
    }
}
