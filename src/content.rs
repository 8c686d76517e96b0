//! What a tool's result looks like to a model: a sequence of blocks.
//!
//! Invariant: the bytes of an image are valid base64. Nothing here decides what a result means; that is its value.

use data_encoding::BASE64;

use crate::error::Error;

/// One block of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A picture.
    Image(Image),
    /// A pointer to something the model can ask for.
    ResourceLink(ResourceLink),
}

impl Content {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A picture from its bytes. `mime` is its media type, for example `image/png`.
    pub fn image(mime: impl Into<String>, bytes: &[u8]) -> Self {
        Self::Image(Image { mime: mime.into(), base64: BASE64.encode(bytes) })
    }

    /// A picture whose bytes are already base64.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) when `base64` is not the padded standard alphabet.
    pub fn image_from_base64(mime: impl Into<String>, base64: impl Into<String>) -> Result<Self, Error> {
        let base64 = base64.into();
        BASE64
            .decode_len(base64.len())
            .and_then(|len| {
                BASE64.decode_mut(base64.as_bytes(), &mut vec![0; len]).map_err(|partial| partial.error)
            })
            .map_err(|error| Error::misuse(format!("the bytes of an image are not base64: {error}")))?;
        Ok(Self::Image(Image { mime: mime.into(), base64 }))
    }

    /// About how many bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Text(text) => text.len(),
                Self::Image(image) => image.mime.len() + image.base64.len(),
                Self::ResourceLink(link) => link.bytes(),
            }
    }

    /// The text of a block of text, `None` for every other kind.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    mime: String,
    base64: String,
}

impl Image {
    /// Its media type.
    #[must_use]
    pub fn mime(&self) -> &str {
        &self.mime
    }

    /// Its bytes, in padded standard base64.
    #[must_use]
    pub fn base64(&self) -> &str {
        &self.base64
    }
}

/// A pointer to something the model can ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceLink {
    /// Where it is.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// What it is, where somebody said so.
    pub description: Option<String>,
    /// Its media type, where it is known.
    pub mime: Option<String>,
}

impl ResourceLink {
    /// A link without a description or a media type.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), description: None, mime: None }
    }

    fn bytes(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.uri.len() + self.name.len() + optional(&self.description) + optional(&self.mime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_holds_valid_base64_however_it_was_made() {
        let made = Content::image("image/png", b"abcd");
        assert_eq!(made, Content::image_from_base64("image/png", "YWJjZA==").expect("valid"));
        for bad in ["YWJjZA", "YWJjZA=!", "YWJj ZA=="] {
            assert!(Content::image_from_base64("image/png", bad).is_err(), "{bad}");
        }
    }
}
