import Crypto
import Foundation
import ODataModel
import ODataQuery
import ServerState

/// The identity of a feed: a digest of everything that decides about its rows (`mobile-server.md` 5.1,
/// `design-review.md` 1).
enum FeedKey {
    /// Returns the key of 32 bytes. Each field has its length in front, so that no two lists of fields are equal.
    ///
    /// - Parameters:
    ///   - audience: Empty for `shared`; application, issuer and subject for `user`.
    static func make(
        application: String, destination: String, query: String, dialect: String, language: String,
        model: [UInt8], audience: [String] = []
    ) -> [UInt8] {
        var hash = SHA256()
        func add(_ bytes: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: Data(bytes))
        }
        for text in [application, destination, query, dialect, language] { add(text.utf8) }
        add(model)
        add([UInt8(truncatingIfNeeded: audience.count)])
        for text in audience { add(text.utf8) }
        return Array(hash.finalize())
    }

    /// Returns the digest of the part of a model on which the rows of a set depend: its type, with the types of the
    /// properties.
    static func digest(of shape: TypeShape, in model: EntityDataModel) -> [UInt8] {
        var hash = SHA256()
        for part in shape.key { hash.update(data: Data("key \(part.name)\n".utf8)) }
        for property in shape.properties { hash.update(data: Data("\(property.name) \(property.type)\n".utf8)) }
        return Array(hash.finalize())
    }

    /// Returns a query without the options that belong to one request, in one form: options in the order of the printer,
    /// selected properties by name.
    ///
    /// Devices add the order by the key, so that pages of a full read do not move. The pages of a feed do not move in
    /// any order, so this order is left out too.
    static func canonical(_ url: ODataURL, of shape: TypeShape) -> String {
        var url = url
        let order = shape.key.map { key in
            OrderItem(.path(key.path.split(separator: "/").map { .name(Identifier(String($0))) }))
        }
        if url.options.orderBy == order { url.options.orderBy = [] }
        url.options.skipToken = nil
        url.options.deltaToken = nil
        url.options.format = nil
        url.options.count = nil
        url.options.custom.removeAll { $0.name == "!deltatoken" }
        url.options.custom.sort { ($0.name, $0.value) < ($1.name, $1.value) }
        let select = url.options.select.map { item -> (String, SelectItem) in
            var alone = QueryOptions()
            alone.select = [item]
            return (alone.urlEncoded(), item)
        }
        url.options.select = select.sorted { $0.0 < $1.0 }.map(\.1)
        return url.urlEncoded()
    }
}
