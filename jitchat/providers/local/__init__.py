"""The provider `local`: a language model that llama.cpp runs in a child process of jitchat."""
