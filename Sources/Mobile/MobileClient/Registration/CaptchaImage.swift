import Foundation
import ODataModel
import ODataService

/// An image with a text for a person to read, so that a registration goes on.
///
/// ```swift
/// func solve(_ image: CaptchaImage) async -> String? {
///     await show(image.png, remaining: image.roundsLeft)
/// }
/// ```
public struct CaptchaImage: Sendable, Hashable {
    /// The image in the format PNG.
    public let png: [UInt8]
    /// The number of attempts that are left, with this one.
    public let roundsLeft: Int
    /// The end of the challenge in seconds since 1970.
    public let expires: Int64
    /// The challenge, which the answer contains again.
    let id: String

    /// Reads the challenge of a refused registration.
    init?(_ error: ODataError) {
        guard let text = error.innerError,
            let content = try? JSONDecoder().decode(Content.self, from: Data(text.utf8)),
            let image = Data(base64Encoded: content.image)
        else { return nil }
        png = Array(image)
        id = content.id
        roundsLeft = content.roundsLeft
        expires = ODataDateTimeOffset(content.expires)?.seconds ?? 0
    }

    private struct Content: Decodable {
        var id: String
        var image: String
        var expires: String
        var roundsLeft: Int
    }
}
