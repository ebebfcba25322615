// Delta links of the mobile server: any text is refused, or is a token that is written with the same bytes. Each input
// is also signed with a known key, so that the reader of the fields is reached.
import Foundation
import ServerState

private let keys = ServerKeys.generate()

private func check(_ text: String) -> FeedToken? {
    let token: FeedToken
    do throws(FeedToken.Refusal) {
        token = try FeedToken(text, keys)
    } catch {
        promise((error == .syntax) == !FeedToken.isForm(text), "a text is a token of unknown origin, or none")
        return nil
    }
    promise(FeedToken.isForm(text), "a token has a form")
    promise(token.feed.count == FeedToken.prefixSize, "a token names a feed")
    guard let again = try? FeedToken(token.text(keys), keys) else { fatalError("a token was written and is not read") }
    promise(again == token, "the token is read as another one")
    return token
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    let forged = check(String(decoding: bytes, as: UTF8.self))
    promise(forged == nil, "a token of nobody")
    let length = FeedToken.size - FeedToken.codeSize
    var content = [1, 1] + bytes.prefix(length - 2)
    content += [UInt8](repeating: 0, count: length - content.count)
    let signed = content + keys.authenticationCode(for: content, .tokens).prefix(FeedToken.codeSize)
    let text = Data(signed).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    let token = check(text)
    promise((token == nil) == !(1...3).contains(content[2]), "a token has a known kind")
    promise(token.map { $0.text(keys) == text } ?? true, "a token is written with other bytes")
    return 0
}
